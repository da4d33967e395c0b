import path from 'node:path';
import { fromNpm } from '../../../scripts/from-npm';
import { type Output, type PackedProject } from './packed-project';

const ESBUILD = `@esbuild/${process.platform}-${process.arch}`;

/** The program of esbuild: its package for this platform needs no install script. */
const esbuildProgram = (): string =>
  path.join(
    fromNpm('esbuild', `${ESBUILD}@0.28`),
    ESBUILD,
    process.platform === 'win32' ? 'esbuild.exe' : 'bin/esbuild',
  );

const WEBPACK = `
const webpack = require(${JSON.stringify(require.resolve('webpack'))});
const [entry, dir, ...externals] = process.argv.slice(1);
const output = { path: dir, filename: 'webpack.js' };
const options = { mode: 'production', optimization: { minimize: false }, target: 'node', entry, output, externals: externals.map((text) => new RegExp(text)), externalsType: 'commonjs' };
webpack(options, (error, stats) => {
  const problems = error ? [String(error)] : stats.toJson({ errors: true }).errors.map(({ message }) => message);
  console.error(problems.join('\\n'));
  process.exit(problems.length === 0 ? 0 : 1);
});`;

/** @returns the bundler's own output; the bundle is `dist/BUNDLER.js` of the project */
export type Bundler = (project: PackedProject, entry: string, external: boolean) => Promise<Output>;

/** With what docs/systems.md says stays external, or with all but the parts that are native. */
export const BUNDLERS: Readonly<Record<'esbuild' | 'webpack', Bundler>> = {
  esbuild: (project, entry, external) =>
    project.program(
      esbuildProgram(),
      {},
      entry,
      '--bundle',
      '--platform=node',
      '--outfile=dist/esbuild.js',
      '--log-limit=0',
      ...['@temporalio/*', ...(external ? ['temporal-media'] : [])].map((name) => `--external:${name}`),
    ),
  webpack: (project, entry, external) =>
    project.node(
      '-e',
      WEBPACK,
      path.join(project.dir, entry),
      path.join(project.dir, 'dist'),
      '^@temporalio/',
      ...(external ? ['^temporal-media'] : []),
    ),
};
