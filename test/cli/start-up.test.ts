import { spawnSync } from 'node:child_process';
import path from 'node:path';

const MAIN = path.join(__dirname, '..', '..', 'packages', 'cli', 'lib', 'main.js');

/** Loads the command in a process of its own, and prints the packages that it has loaded when it ends. */
const SCRIPT = `
  process.argv.splice(1, 0, ${JSON.stringify(MAIN)});
  process.on('exit', () => {
    const names = Object.keys(require.cache).map((file) => /node_modules[\\\\/]((@[^\\\\/]+[\\\\/])?[^\\\\/]+)/.exec(file)?.[1]);
    console.error(JSON.stringify([...new Set(names)]));
  });
  require(${JSON.stringify(MAIN)});
`;

/** Half a second of processor time: a shell asks for its completions, and a person for help, without any of these. */
const HEAVY = ['@temporalio/client', '@temporalio/proto', '@temporalio/worker', '@grpc/grpc-js', 'undici'];

test.each([
  [['--help']],
  [['--version']],
  [['video', '--help']],
  [['campaign', 'run', '--help']],
  [['doctor', '--help']],
  [['schema']],
  [['completion', 'bash']],
])('%j loads neither the Temporal client nor the HTTP client', (args) => {
  const { status, stderr } = spawnSync(process.execPath, ['-e', SCRIPT, '--', ...args], { encoding: 'utf8' });
  expect(status).toBe(0);
  const loaded = JSON.parse(stderr.trim().split('\n').at(-1) as string) as string[];
  expect(loaded).toContain('commander');
  expect(loaded.filter((name) => HEAVY.includes(name))).toEqual([]);
});
