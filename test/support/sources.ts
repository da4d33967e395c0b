import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(__dirname, '..', '..');

export interface Source {
  /** From the root of the repository: `src/worker.ts`, `packages/cli/src/main.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Folders of all sources: of the core, then of each companion. */
export const SOURCE_FOLDERS: readonly string[] = [
  'src',
  ...readdirSync(path.join(ROOT, 'packages')).map((name) => path.posix.join('packages', name, 'src')),
];

/** The sources of all packages, of which tests ask what must hold everywhere. */
export function readSources(): readonly Source[] {
  return SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => {
        const file = path.posix.join(folder, name);
        return { path: file, text: readFileSync(path.join(ROOT, file), 'utf8') };
      }),
  );
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string; readonly types: string }>>;
  readonly typesVersions?: { readonly '*': Readonly<Record<string, readonly string[]>> };
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
}

/** The package.json beside a folder of sources. */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(ROOT, folder, '..', 'package.json'), 'utf8')) as Manifest;
}

/** Sources behind the entry points of all packages, by the names that users import. */
export const ENTRIES: ReadonlyMap<string, string> = new Map(
  SOURCE_FOLDERS.flatMap((folder) => {
    const { name, exports } = manifestOf(folder);
    return Object.entries(exports).flatMap(([subpath, target]) =>
      typeof target === 'string' || subpath.includes('*')
        ? []
        : [
            [
              path.posix.join(name, subpath),
              target.default.replace(/^\.\/lib/, folder).replace(/\.js$/, '.ts'),
            ] as const,
          ],
    );
  }),
);
