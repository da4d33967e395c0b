import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '..', '..');
const MODULES = path.join(ROOT, 'node_modules');

/**
 * Runs a test file of a folder under jest, as in a project that has installed the package: its compiled code is found by its
 * name. @returns the exit code, and what jest said
 */
export async function runWrittenTest(
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly said: string }> {
  const dir = path.dirname(file);
  const lib = path.join(ROOT, 'lib');
  const config = path.join(dir, 'jest.config.json');
  await writeFile(
    config,
    JSON.stringify({
      testEnvironment: 'node',
      rootDir: dir,
      modulePaths: [MODULES],
      transform: {
        '^.+\\.ts$': [
          require.resolve('@swc/jest'),
          { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
        ],
      },
      moduleNameMapper: {
        '^@temporal-media/(sandbox|testing)$': path.join(ROOT, 'packages', '$1', 'lib', 'index.js'),
        '^temporal-media/internal/(.*)$': path.join(lib, '$1'),
        '^temporal-media/(worker|client)$': path.join(lib, '$1.js'),
      },
    }),
  );
  const child = spawn(
    process.execPath,
    [
      path.join(MODULES, 'jest', 'bin', 'jest.js'),
      '--config',
      config,
      '--forceExit',
      '--runTestsByPath',
      file,
    ],
    { cwd: dir, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}
