import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Command } from 'commander';
import { campaignEnd } from '../../packages/cli/src/campaign/text';
import { createProgram } from '../../packages/cli/src/program';
import { Report } from '../../packages/cli/src/shared/report';
import { MANIFEST_COLUMNS, MANIFEST_OPERATIONS } from '../../src/manifest/columns';

const ROOT = path.resolve(__dirname, '..', '..');
const read = (...names: string[]) => readFileSync(path.join(ROOT, ...names), 'utf8');
const page = read('docs', 'campaigns.md');

/** What a shell would make of a line without its comment. */
const wordsOf = (line: string) => line.replace(/\s+#.*$/, '').split(/\s+/);

/** Parses a command line of ours without running it; throws for an unknown command, option or argument. */
function parse(words: readonly string[]): void {
  const program = createProgram({ env: {}, report: new Report(), exitCode: 0 });
  const disarm = (command: Command): void => {
    command.action(() => undefined).exitOverride();
    command.commands.forEach(disarm);
  };
  program.commands.forEach(disarm);
  program.parse([...words], { from: 'user' });
}

describe('docs/campaigns.md', () => {
  const commands = [page, read('README.md'), read('docs', 'command-line.md')].flatMap((text) =>
    text.split('\n').filter((line) => line.startsWith('temporal-media campaign ')),
  );

  test.each(commands)('%s', (line) => {
    parse(wordsOf(line).slice(1));
  });

  test.each([...page.matchAll(/^\| `(campaign [^`]*)`/gm)].map(([, command]) => command as string))(
    '%s',
    (command) => {
      parse(wordsOf(command.replace(/[[\]]/g, '')));
    },
  );

  test('the exit codes in their order are those of the code', () => {
    const rows = [...page.matchAll(/^\| (\d+) +\| (?:`([a-z_]+)`)?/gm)].map(([, code, type]) => [code, type]);
    const ends = [
      campaignEnd({ outcome: 'refused', counts: {}, plan: { refused: { reason: 'no_rows', message: '' } } }),
      ...(
        [
          'unconfirmed',
          'still_running',
          'cancelled',
          'failed',
          'skipped_budget',
          'changed',
          'completed',
        ] as const
      ).map((outcome) => campaignEnd({ outcome: 'completed', counts: { [outcome]: 1 }, plan: {} })),
    ];
    expect(rows).toEqual(ends.map(({ ok, type, exitCode }) => [String(exitCode), ok ? undefined : type]));
  });

  test('the columns are those of the code', () => {
    const rows = MANIFEST_COLUMNS.map(({ name, aliases, operations, formats, suffix, about }) => {
      const written = `${name}${{ none: '', may: '[:FIELD]', always: ':NAME' }[suffix]}`;
      const also = aliases.length === 0 ? '' : `, also ${aliases.map((alias) => `\`${alias}\``).join(', ')}`;
      const kinds = operations.length === MANIFEST_OPERATIONS.length ? 'all' : operations.join(', ');
      const only = formats.length === 1 ? ' (JSON lines only)' : '';
      return `| \`${written}\`${also} | ${kinds} | ${about}${only} |`;
    });
    expect(page).toContain(['| Column | Rows | |', '| --- | --- | --- |', ...rows, ''].join('\n'));
  });

  test('the code of docs/campaigns-from-code.md is code that compiles', () => {
    const [, code] = /```ts\n([\s\S]*?)```/.exec(read('docs', 'campaigns-from-code.md')) ?? [];
    const compiled = read('test', 'docs', 'campaign-client.ts')
      .replaceAll("'../../src/client'", "'temporal-media/client'")
      .replaceAll("'../../src/domain'", "'temporal-media'");
    // The formatter sorts the imports of the two by their own paths.
    const sorted = (text = '') =>
      text.replace(/(?:^import .*\n)+/m, (lines) => lines.split('\n').sort().join('\n'));
    expect(sorted(compiled)).toContain(sorted(code).trimStart());
  });
});
