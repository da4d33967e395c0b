import path from 'node:path';
import { fromNpm } from '../../../scripts/from-npm';

/** How a project gets its packages, and how it runs its own code and their commands. */
export interface Installer {
  readonly name: string;
  /** Files that choose this kind of installation. */
  readonly files: Readonly<Record<string, string>>;
  readonly install: readonly string[];
  /** Before a script of the project. */
  readonly node: readonly string[];
  /** Before the name of a command of a package. */
  readonly exec: readonly string[];
}

const FROM_NPM = {
  pnpm: '10',
  '@yarnpkg/cli-dist': '4',
  [`@oven/bun-${process.platform}-${process.arch}`]: '1',
};

export function installers(): readonly Installer[] {
  const wanted = Object.entries(FROM_NPM).map(([name, version]) => `${name}@${version}`);
  const folder = fromNpm('installers', ...wanted);
  const at = (...parts: readonly string[]): string => path.join(folder, ...parts);
  const node = process.execPath;
  const pnpm = [node, at('pnpm', 'bin', 'pnpm.cjs')];
  const yarn = [node, at('@yarnpkg', 'cli-dist', 'bin', 'yarn.js')];
  const bun = [at('@oven', `bun-${process.platform}-${process.arch}`, 'bin', 'bun')];
  const yarnOf = (nodeLinker: string): Installer => ({
    name: `Yarn, ${nodeLinker}`,
    files: {
      '.yarnrc.yml': `nodeLinker: ${nodeLinker}\nenableTelemetry: false\nenableGlobalCache: true\n`,
      'yarn.lock': '',
    },
    install: [...yarn, 'install', '--mode=skip-build'],
    node: [...yarn, 'node'],
    exec: [...yarn, 'run'],
  });
  return [
    {
      name: 'npm',
      files: {},
      install: ['npm', 'install', '--ignore-scripts'],
      node: [node],
      exec: ['npx', '--no'],
    },
    {
      name: 'pnpm',
      files: {},
      install: [...pnpm, 'install', '--ignore-scripts'],
      node: [node],
      exec: [...pnpm, 'exec'],
    },
    yarnOf('node-modules'),
    yarnOf('pnp'),
    {
      name: 'Bun',
      files: {},
      install: [...bun, 'install', '--ignore-scripts'],
      node: [node],
      exec: [...bun, 'run'],
    },
  ];
}
