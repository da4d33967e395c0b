import fc from 'fast-check';
import { type JsonValue } from '../../src/domain/json';
import { phaseOf, STATUS_VALUES, statusValue } from '../../src/service/video-record';
import { readRecord } from './read-record';

const read = (json: JsonValue) => readRecord(json, { taskId: 'a', keys: ['key-1234567890'] });

const WORDS = {
  queued: 'queued pending submitted not_start preparing created starting unknown',
  in_progress: 'in_progress processing running generating',
  completed: 'completed success succeeded complete finished done',
  failed:
    'failed fail failure error cancelled canceled expired deleted rejected timed_out timeout aborted moderated nsfw',
};

describe('a task record', () => {
  it.each(Object.entries(WORDS).flatMap(([phase, words]) => words.split(' ').map((word) => [phase, word])))(
    '[C2.2.2] %s is what %s means, in any case',
    (phase, word) => {
      for (const form of [
        word,
        word.toUpperCase(),
        ` ${word} `,
        word.replace('_', '-'),
        word.replace('_', ' '),
      ])
        expect(phaseOf(statusValue(form))).toBe(phase);
    },
  );

  it('[C2.2.2] no other word is final', () => {
    fc.assert(
      fc.property(fc.string(), (word) => {
        fc.pre(!Object.hasOwn(STATUS_VALUES, statusValue(word).replace(/[ -]/g, '_')));
        expect(read({ id: 'a', status: word })?.record.phase ?? 'unknown').toBe('unknown');
      }),
    );
  });

  it('[C2.2.3] [C2.2.4] progress is there only for a finite number from 0 to 100', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.double(), fc.integer(), fc.string(), fc.boolean(), fc.constant(null)),
        (progress) => {
          const value = read({ id: 'a', status: 'running', progress: progress as JsonValue })?.record
            .progress;
          const number =
            typeof progress === 'string' && /^-?\d+(\.\d+)?$/.test(progress) ? Number(progress) : progress;
          const valid = typeof number === 'number' && number >= 0 && number <= 100;
          expect(value).toBe(valid ? number + 0 : undefined);
        },
      ),
    );
  });

  it('[C9.2] any JSON value is read without a throw, and unknown fields change nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        read(value as JsonValue);
        readRecord(value as JsonValue, { isError: true });
        const known = read({ id: 'a', status: 'queued' });
        expect(read({ id: 'a', status: 'queued', zz_unknown: value as JsonValue })).toEqual(known);
      }),
    );
  });

  it('[C2.2.7] [C2.2.6] any value in the places of the result is read without a throw', () => {
    const place = fc.constantFrom('url', 'output', 'urls', 'video', 'data', 'metadata', 'assets', 'content');
    fc.assert(
      fc.property(place, fc.jsonValue({ maxDepth: 4 }), (name, value) => {
        const reading = read({ id: 'a', status: 'completed', [name]: value as JsonValue });
        for (const url of reading?.resultUrls ?? []) expect(url).toMatch(/^(?:https?:|data:)/i);
      }),
    );
  });

  it('[C5.4a] a key in a status word or a model name is cleaned', () => {
    const reading = read({ id: 'a', status: 'key-1234567890', model: 'key-1234567890' });
    expect(JSON.stringify(reading)).not.toContain('1234');
  });

  it('until when a result is kept is read in seconds, milliseconds and dates, of what is completed', () => {
    const at = '2027-01-15T08:00:00.000Z';
    const done = { id: 'a', status: 'completed', completed_at: 1_790_000_000 };
    const kept = (fields: object) => read({ ...done, ...fields })?.record.expiresAt;
    for (const expires_at of [
      1_800_000_000,
      '1800000000',
      1_800_000_000_000,
      at,
      '2027-01-15T09:00:00+01:00',
    ])
      expect(kept({ expires_at })).toBe(at);
    for (const expires_at of [null, 0, -1, '', 'soon', {}, 1e300, 1_789_999_999, '2027-01-15'])
      expect(kept({ expires_at })).toBeUndefined();
    expect(kept({})).toBeUndefined();
    expect(kept({ status: 'in_progress', expires_at: 1_800_000_000 })).toBeUndefined();
  });

  it('only an id and a known word make a full record of an error body', () => {
    const inError = (body: JsonValue) => readRecord(body, { taskId: 'b', isError: true });
    expect(inError({ id: 'a', status: 'failed' })).toBeDefined();
    expect(inError({ task_id: 'a', status: 'failed' })).toBeDefined();
    expect(inError({ code: 'x', data: { id: 'b', status: 'FAILURE' } })).toBeDefined();
    for (const body of [
      { status: 'error' },
      { id: 'a' },
      { id: 'a', status: 404 },
      { id: 'a', status: 'odd' },
      { code: 'x', data: { id: 'a', status: 'FAILURE' } },
      'x',
      null,
    ])
      expect(inError(body)).toBeUndefined();
  });
});
