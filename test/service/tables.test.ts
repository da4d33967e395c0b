import { errorKind, KIND_SIGNALS, type KindSignal } from '../../src/service/classify-reply';
import { phaseOf, RESULT_URL_PLACES, STATUS_VALUES, statusValue } from '../../src/service/video-record';
import { readRecord } from './read-record';

// Every line of the three tables is run here by itself: a new line needs no new test.
const record = (fields: object) => readRecord({ id: 't1', ...fields });

describe('status words', () => {
  it.each(Object.entries(STATUS_VALUES))('[C2.2.2] %s means %s, in any case and spelling', (word, phase) => {
    const forms = [
      word,
      word.toUpperCase(),
      ` ${word} `,
      word.replaceAll('_', '-'),
      word.replaceAll('_', ' '),
    ];
    for (const form of forms) {
      expect([form, phaseOf(statusValue(form))]).toEqual([form, phase]);
      expect(record({ status: form })?.record.phase).toBe(phase);
    }
  });

  it('are written as they are looked up', () => {
    for (const word of Object.keys(STATUS_VALUES)) expect(word).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
  });
});

describe('signs of an error', () => {
  const nothing = { codes: [], types: [], text: '' };
  const shown = (signal: KindSignal) => {
    if ('code' in signal) return { ...nothing, codes: [signal.like] };
    if ('word' in signal) return { ...nothing, text: signal.like };
    if ('type' in signal) return { ...nothing, types: [signal.like] };
    return { ...nothing, httpStatus: signal.status };
  };
  const title = (signal: KindSignal) =>
    'status' in signal ? `status ${signal.status}` : `${Object.keys(signal)[1]} ${signal.like}`;

  it.each(KIND_SIGNALS.map((signal) => [title(signal), signal.kind, signal] as const))(
    '[C7.8] %s is %s',
    (_title, kind, signal) => {
      expect(errorKind(shown(signal))).toBe(kind);
      // The example belongs to this line.
      if ('code' in signal) expect(signal.like).toMatch(signal.code);
      if ('word' in signal) expect(signal.like).toMatch(signal.word);
      if ('type' in signal) expect(signal.like).toMatch(signal.type);
    },
  );

  it('[C7.8] moderation is found whatever else and whatever status is there', () => {
    for (const signal of KIND_SIGNALS.filter(({ kind }) => kind === 'moderation'))
      for (const httpStatus of [200, 400, 429, 500, 503])
        expect(errorKind({ ...shown(signal), types: ['invalid_request_error'], httpStatus })).toBe(
          'moderation',
        );
  });

  it('no pattern keeps a state from one error to the next', () => {
    for (const signal of KIND_SIGNALS)
      for (const value of Object.values(signal))
        if (value instanceof RegExp) expect(value.flags).toMatch(/^i?$/);
  });
});

describe('names of the result URL', () => {
  const at = (place: string, value: unknown): object =>
    place.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;

  it.each(RESULT_URL_PLACES)('[C2.2.7] %s is read, as text, list or object', (place) => {
    const url = 'https://media.example/a.mp4';
    for (const value of [url, [url], [{ url }], { url }])
      expect([value, record({ status: 'completed', ...at(place, value) })?.resultUrls]).toEqual([
        value,
        [url],
      ]);
  });
});
