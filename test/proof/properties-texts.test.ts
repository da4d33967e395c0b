import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { durationOf } from '../../packages/cli/src/shared/paid-options';
import { nearNames, shellWord, shownLocation } from '../../packages/cli/src/shared/text';
import { detailsText, inCode } from '../../src/domain/video-state';
import { errorKind } from '../../src/service/classify-reply';
import { replyHeaders } from '../../src/service/read-replies';
import { createRedactor } from '../../src/service/redact';
import { phaseOf, statusValue } from '../../src/service/video-record';

const any = fc.string({ unit: 'binary', maxLength: 40 });

describe('texts of others', () => {
  const redactor = createRedactor(['key-1234567890']);

  it('cleaning a clean text again shows no more of it, and it stays one short line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const once = redactor.text(text);
        expect(once.length).toBeLessThanOrEqual(500);
        expect(once).not.toMatch(/[\n\r\0]/);
        expect(redactor.text(once).length).toBeLessThanOrEqual(once.length + 10);
      }),
    );
  });

  it('[C5.4a] of an address only its origin is ever shown', () => {
    const secret = fc.stringMatching(/^[a-z0-9]{12,20}$/);
    fc.assert(
      fc.property(secret, any, (one, around) => {
        fc.pre(!around.includes(one));
        expect(
          redactor.text(`${around} https://u:${one}@media.example/${one}?X-Amz-Signature=${one} ${around}`),
        ).not.toContain(one);
        expect(redactor.url(`https://u:${one}@media.example/${one}?sig=${one}`)).toBe(
          'https://media.example',
        );
        expect(shownLocation(`https://u:${one}@media.example/a?sig=${one}#${one}`)).not.toContain(one);
      }),
    );
  });

  it('[C5.4a] no header is kept that is not on the list', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(
            'set-cookie',
            'cookie',
            'authorization',
            'x-request-id',
            'server',
            '__proto__',
            'date',
          ),
          any,
        ),
        (headers) => {
          const kept = replyHeaders(headers, redactor);
          expect(Object.keys(kept).filter((name) => name !== 'x-request-id' && name !== 'date')).toEqual([]);
        },
      ),
    );
  });

  it('a text in a details panel is one line of code, and never ends its own quotes', () => {
    fc.assert(
      fc.property(any, any, (name, text) => {
        const shown = inCode(text);
        expect(shown).toMatch(/^`[^`\n]*`$/);
        expect(detailsText('t', 's', [['id', shown]]).split('\n')).toHaveLength(5);
        expect(inCode(name + text).length).toBeLessThanOrEqual(132);
      }),
    );
  });

  it('[C2.2.2] a status word is short, without control characters, and stays the same when it is read again', () => {
    fc.assert(
      fc.property(any, (text) => {
        const word = statusValue(text);
        expect(word.length).toBeLessThanOrEqual(64);
        expect(word).not.toMatch(/\p{Cc}/u);
        expect(phaseOf(statusValue(word.toUpperCase()))).toBe(phaseOf(word.toUpperCase().toLowerCase()));
      }),
    );
  });

  it('[C7.8] every error has a kind, and a moderation code wins over any status', () => {
    fc.assert(
      fc.property(
        fc.array(any, { maxLength: 3 }),
        any,
        fc.integer({ min: 100, max: 599 }),
        (codes, text, httpStatus) => {
          expect(['moderation', 'capacity', 'invalid', 'quota', 'unknown']).toContain(
            errorKind({ codes, types: [], text, httpStatus }),
          );
          expect(errorKind({ codes: ['moderation_blocked', ...codes], types: [], text, httpStatus })).toBe(
            'moderation',
          );
        },
      ),
    );
  });

  it('a shell takes a word back as it was', () => {
    const word = fc.string({ unit: 'binary', maxLength: 40 }).filter((one) => !/[\0\p{Cs}]/u.test(one));
    // Each run starts a shell: fewer runs, many words in each.
    fc.assert(
      fc.property(fc.array(word, { minLength: 50, maxLength: 50 }), (words) => {
        const shown = execFileSync(
          'bash',
          ['-c', `printf '%s\\0' ${words.map((one) => shellWord(one, 'linux')).join(' ')}`],
          {
            encoding: 'utf8',
          },
        );
        expect(shown.split('\0').slice(0, -1)).toEqual(words);
      }),
      { numRuns: 10 },
    );
  });

  it('a name that is known is the nearest to itself, and none is named twice', () => {
    const known = fc.uniqueArray(fc.stringMatching(/^[A-Z_]{3,12}$/), {
      minLength: 1,
      maxLength: 6,
      selector: (one) => one.replaceAll('_', ''),
    });
    fc.assert(
      fc.property(known, fc.nat(), (names, pick) => {
        const wanted = names[pick % names.length]!;
        const near = nearNames(wanted.toLowerCase(), names);
        fc.pre(wanted.replaceAll('_', '') !== '');
        expect(near[0]).toBe(wanted);
        expect(new Set(near).size).toBe(near.length);
      }),
    );
  });

  it('a duration has a unit, and means the same in any', () => {
    fc.assert(
      fc.property(fc.nat(10_000), (count) => {
        expect(durationOf(`${count}m`)).toBe(durationOf(`${count * 60}s`));
        expect(durationOf(`${count} hours`)).toBe(count * 3_600_000);
        expect(durationOf(String(count))).toBeUndefined();
      }),
    );
  });
});
