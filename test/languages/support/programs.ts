import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cachedFolder } from '../../../scripts/from-npm';

const LANGUAGES = path.resolve(__dirname, '..', '..', '..', 'examples');
const MINUTES = 60_000;

/** How the programs of one language are run. */
export interface Programs {
  readonly worker: (queue: string) => readonly string[];
  readonly start: (order: string, mediaQueue: string) => readonly string[];
}

export interface Language {
  readonly name: string;
  /** Brings the packages; throws where this machine cannot have them. */
  fetch(): void;
  /** After `fetch`. A program of ours that does not compile is a failure and no reason to skip. */
  programs(): Programs;
}

const REQUIREMENTS = path.join(LANGUAGES, 'python', 'requirements.txt');

/** A virtual environment with the packages of requirements.txt, from PyPI. */
function pythonEnvironment(): string {
  const madeOf = `${run('python3', ['--version'])}${readFileSync(REQUIREMENTS, 'utf8')}`;
  return cachedFolder('python', madeOf, (folder) => {
    run('python3', ['-m', 'venv', folder]);
    const python = path.join(folder, 'bin', 'python');
    run(python, ['-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS]);
  });
}

export const python: Language = {
  name: 'Python',
  fetch: () => void pythonEnvironment(),
  programs: () => {
    const program = path.join(pythonEnvironment(), 'bin', 'python');
    // Nothing is written into the tree.
    const script = (name: string) => [program, '-B', path.join(LANGUAGES, 'python', name)];
    return {
      worker: (queue) => [...script('worker.py'), queue],
      start: (order, mediaQueue) => [...script('start.py'), order, mediaQueue],
    };
  },
};

const MODULE = path.join(LANGUAGES, 'go');

/** One program, built of the module in `go` with the packages of its go.sum, from the Go module proxy. */
export const go: Language = {
  name: 'Go',
  fetch: () => void run('go', ['mod', 'download'], MODULE),
  programs: () => {
    const sources = readdirSync(MODULE)
      .sort()
      .map((file) => readFileSync(path.join(MODULE, file), 'utf8'));
    const built = cachedFolder('go', `${run('go', ['version'])}${sources.join('')}`, (folder) => {
      run('go', ['build', '-o', path.join(folder, 'film'), '.'], MODULE);
    });
    const program = path.join(built, 'film');
    return {
      worker: (queue) => [program, 'worker', queue],
      start: (order, mediaQueue) => [program, 'start', order, mediaQueue],
    };
  },
};

function run(command: string, args: readonly string[], cwd = LANGUAGES): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe', timeout: 10 * MINUTES });
}

/** `describe`, or a skip that says in one line what is missing. */
export function describeWhere(name: string, fetch: () => void): jest.Describe {
  try {
    fetch();
    return describe;
  } catch (error) {
    const why = (error as Error).message.trim().split('\n').at(-1);
    process.stderr.write(`SKIPPED ${expect.getState().testPath}: ${name} cannot be had here: ${why}\n`);
    return describe.skip;
  }
}
