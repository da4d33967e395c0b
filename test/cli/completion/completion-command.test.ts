import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { runCli, runJson } from '../support/run-cli';

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;

describe('temporal-media completion', () => {
  let dir: string;
  const scriptOf = async (shell: string): Promise<string> => {
    const { code, stdout } = await runCli(['completion', shell]);
    expect(code).toBe(0);
    const file = path.join(dir, `script.${shell}`);
    await writeFile(file, stdout);
    return file;
  };

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-completion-'));
    await mkdir(path.join(dir, 'my films'));
    await writeFile(path.join(dir, 'my poster.png'), '');
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test('every command and option of the help is in every script', async () => {
    const { stdout: help } = await runCli(['--help']);
    const commands = [...help.matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, name]) => name as string);
    const { stdout: video } = await runCli(['video', '--help']);
    const options = [...video.matchAll(/--([a-z-]+)/g)].map(([, name]) => name as string);
    expect([commands.length, options.length]).toEqual([expect.any(Number), expect.any(Number)]);
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await runCli(['completion', shell]);
      for (const word of [...commands, ...options]) expect(stdout).toContain(word);
    }
  });

  test('JSON has the script; an unknown shell is wrong usage', async () => {
    const { reply } = await runJson(['completion', 'bash']);
    expect(reply.data).toMatchObject({
      shell: 'bash',
      script: expect.stringContaining('complete -F') as string,
    });
    const { code, reply: refused } = await runJson(['completion', 'powershell']);
    expect([code, refused.error?.type]).toEqual([2, 'usage']);
  });

  /** What bash offers when the last word is completed: the words as bash itself splits them. */
  async function inBash(words: readonly string[]): Promise<string[]> {
    const script = await scriptOf('bash');
    const code = [
      'source "$1"; shift',
      'complete -p temporal-media >/dev/null || exit 9',
      'COMP_WORDS=(temporal-media "$@"); COMP_CWORD=$#',
      '_temporal_media',
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ].join('\n');
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', code, 'bash', script, ...words], {
      cwd: dir,
    });
    // No readline is there that could take the option of a completion under way.
    expect(stderr).toBe('');
    return stdout.split('\n').filter((line) => line !== '');
  }

  const formats = ['text', 'json', 'jsonl'];
  test.each<[string, string[], string[]]>([
    ['commands', ['mod'], ['models']],
    ['commands below a command', ['models', ''], ['ls', 'show']],
    ['options', ['video', '--re'], ['--resolution', '--reference']],
    ['options after others', ['video', '--model', 'cine-1', '--dr'], ['--dry-run']],
    ['options of a command below', ['models', 'show', '--d'], ['--data-dir']],
    ['values of an option', ['status', 'x', '-o', ''], formats],
    ['values after an equals sign', ['status', '--output', '=', 'json'], ['json', 'jsonl']],
    ['values right after an equals sign', ['status', '--output', '='], formats],
    ['values of an argument', ['completion', ''], ['bash', 'zsh', 'fish']],
    [
      'schemas',
      ['schema', 'campaign-s'],
      ['campaign-state', 'campaign-set-priority', 'campaign-set-concurrency'],
    ],
    ['directories with blanks', ['video', '--out', 'my'], ['my films']],
    ['files with blanks', ['edit', '--image', 'my p'], ['my poster.png']],
    ['nothing for free text', ['video', '--prompt', ''], []],
    ['nothing for an id', ['resume', ''], []],
  ])('bash: %s', async (_title, words, offered) => {
    expect(await inBash(words)).toEqual(offered);
  });

  test('bash: all commands', async () => {
    expect(await inBash([''])).toEqual(
      expect.arrayContaining(['video', 'image', 'edit', 'resume', 'config', 'help']),
    );
  });

  // What cannot run here cannot be tested here; the structure of the scripts is tested above.
  (has('zsh') ? test : test.skip)('zsh takes the script', async () => {
    const script = await scriptOf('zsh');
    expect(spawnSync('zsh', ['-f', '-n', script], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  (has('fish') ? test : test.skip)('fish offers commands, options and values', async () => {
    const script = await scriptOf('fish');
    const offered = (line: string): string[] => {
      const { stdout } = spawnSync(
        'fish',
        ['-N', '-c', `source ${script}; complete -C ${JSON.stringify(line)}`],
        {
          encoding: 'utf8',
        },
      );
      return stdout
        .split('\n')
        .map((one) => one.split('\t')[0] ?? '')
        .filter((one) => one !== '');
    };
    expect(offered('temporal-media mod')).toEqual(['models']);
    expect(offered('temporal-media models ')).toEqual(['ls', 'show']);
    expect(offered('temporal-media status x -o ')).toEqual([...formats].sort());
    expect(offered('temporal-media video --dry')).toEqual(['--dry-run']);
  });
});
