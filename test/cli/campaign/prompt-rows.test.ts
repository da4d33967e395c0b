import fc from 'fast-check';
import { promptRows } from '../../../packages/cli/src/campaign/prompt-manifest';
import { type CliError } from '../../../packages/cli/src/shared/errors';
import { readManifest } from '../../../src/manifest/read-manifest';

const COMMON = { model: 'cine-1', duration: 4 };

async function* bytesOf(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as string);
  // In pieces that cut characters and line ends apart.
  for (let at = 0; at < bytes.length; at += 5) yield bytes.subarray(at, at + 5);
}

/** Line and prompt of each row, as a plan reads them. */
async function rowsOf(text: string | Uint8Array): Promise<(readonly [number, unknown])[]> {
  const rows: (readonly [number, unknown])[] = [];
  for await (const { line, values, issues } of readManifest(promptRows(bytesOf(text), COMMON), 'jsonl')) {
    expect([values.get('model')?.value, values.get('duration')?.value, issues]).toEqual(['cine-1', 4, []]);
    rows.push([line, values.get('prompt')?.value]);
  }
  return rows;
}

describe('prompts, one a line', () => {
  test('each line is a row on its own line; blank lines, a byte order mark and CRLF are none of it', async () => {
    expect(await rowsOf('\ufeffa boat\r\n\r\n  \t\r\nthe "sea", at night; ü 🚤\r\nlast')).toEqual([
      [1, 'a boat'],
      [4, 'the "sea", at night; ü 🚤'],
      [5, 'last'],
    ]);
    expect(await rowsOf('')).toEqual([]);
    expect(await rowsOf('\n\n')).toEqual([]);
  });

  test('a prompt is sent as it stands, its blanks included', async () => {
    expect(await rowsOf('  two blanks before and one behind \n')).toEqual([
      [1, '  two blanks before and one behind '],
    ]);
    const line = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/[\0\r\n]/.test(text));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), async (lines) => {
        fc.pre(!/^\ufeff|^\s*\{/.test(lines.join('\n')));
        const expected = lines.flatMap((text, index) => (text.trim() === '' ? [] : [[index + 1, text]]));
        expect(await rowsOf(lines.join('\n'))).toEqual(expected);
      }),
    );
  });

  test.each([
    ['bytes that are no text', Buffer.from([0x61, 0x0a, 0x62, 0x0a, 0xff, 0xfe]), /near line 3/],
    ['NUL characters', `a\nb\0c ${'x'.repeat(5_000)}`, /NUL/],
    ['a line without an end', `a\n${'x'.repeat(300_000)}`, /^Line 2 .* 262144 characters/],
    ['the header of a manifest', '\nid;Model;Prompt\n1;cine-1;x', /^Line 2 .*manifest/],
    ['JSON lines', '{"model":"cine-1","prompt":"x"}\n', /^Line 1 .*manifest/],
  ])('%s: the line is named, and nothing is bought', async (_name, text, message) => {
    const error = (await rowsOf(text).catch((reason: unknown) => reason)) as CliError;
    expect(error.message).toMatch(message);
    expect(error.reply.type).toBe('manifest_unreadable');
  });
});
