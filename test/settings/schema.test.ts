import fc from 'fast-check';
import { readModelConfiguration } from '../../src/settings/model-schema';

const video = { id: 'video-1', kind: 'video' };
const image = { id: 'image-2 4K', kind: 'image' };
const read = (...models: unknown[]) => readModelConfiguration({ version: 1, models });

it('takes a full configuration as it is', () => {
  const document = {
    version: 1,
    models: [
      {
        ...video,
        durationField: 'duration',
        durationForm: 'string',
        durations: [4, 8],
        resolutions: ['720p'],
        aspectRatios: ['16:9'],
        references: [
          { kind: 'image', field: 'input_reference', shape: 'array', form: 'data_url', max: 3 },
          { kind: 'video', field: 'input_reference', shape: 'array', form: 'url' },
        ],
        fields: ['seed'],
        polling: { minSeconds: 10, maxSeconds: 15, firstPollSeconds: 12 },
        requestSeconds: 900,
        price: { per: 'second', microUnits: 100_000, currency: 'USD' },
        actual: { path: 'usage.cost', currency: 'USD' },
      },
      {
        ...image,
        sizes: ['1024x1024', 'auto'],
        qualities: ['high'],
        maxN: 4,
        responseFormats: ['url', 'b64_json'],
        edit: { mask: true, fields: ['size', 'n'], maxImages: 4 },
        requestSeconds: 1,
        price: {
          per: 'specification',
          currency: 'EUR',
          specifications: [{ size: '1024x1024', microUnits: 40_000 }, { microUnits: 60_000 }],
        },
      },
    ],
  };
  expect(readModelConfiguration(document)).toEqual({ ok: true, configuration: document });
});

describe('an error names the model and the field', () => {
  it.each([
    [[{ ...video, durations: ['4'] }], 'model "video-1", durations[0]: '],
    [[{ ...video, durations: [4, 4] }], 'model "video-1", durations: must not contain duplicate values'],
    [[{ ...video, durations: [0] }], 'model "video-1", durations[0]: '],
    [[{ ...video, duration: [4] }], 'model "video-1": Unrecognized key: "duration"'],
    [[{ ...video, sizes: ['1x1'] }], 'model "video-1": Unrecognized key: "sizes"'],
    [[{ ...video, resolutions: null }], 'model "video-1", resolutions: '],
    [[{ ...video, requestSeconds: 0 }], 'model "video-1", requestSeconds: '],
    [[{ ...video, requestSeconds: 62.5 }], 'model "video-1", requestSeconds: '],
    [[{ ...image, requestSeconds: 901 }], 'model "image-2 4K", requestSeconds: '],
    [
      [
        {
          ...video,
          requestSeconds: 300,
          idempotency: { header: 'Idempotency-Key', honoured: true, windowSeconds: 599 },
        },
      ],
      'model "video-1", idempotency.windowSeconds: must be at least twice requestSeconds',
    ],
    [[{ ...video, actual: { path: 'usage.cost' } }], 'model "video-1", actual.currency: '],
    [
      [{ ...video, actual: { currency: 'USD' } }],
      'model "video-1", actual: must have exactly one of path and header',
    ],
    [
      [{ ...image, actual: { path: 'a', header: 'b', currency: 'USD' } }],
      'model "image-2 4K", actual: must have exactly one of path and header',
    ],
    [
      [{ ...video, actual: { path: '.cost', currency: 'USD' } }],
      'model "video-1", actual.path: must be property names that dots separate',
    ],
    [[{ ...video, actual: { header: 'x cost', currency: 'USD' } }], 'model "video-1", actual.header: '],
    [
      [
        {
          ...video,
          price: { per: 'task', microUnits: 5, currency: 'EUR' },
          actual: { path: 'cost', currency: 'USD' },
        },
      ],
      'model "video-1", actual.currency: must be the currency of the model\'s price, EUR',
    ],
    [[{ ...image, sizes: ['1024X1024'] }], 'model "image-2 4K", sizes[0]: must be WIDTHxHEIGHT'],
    [
      [{ ...image, price: { per: 'task', microUnits: 0.5, currency: 'USD' } }],
      'model "image-2 4K", price.microUnits: ',
    ],
    [
      [{ ...image, price: { per: 'task', microUnits: 5, currency: 'dollars' } }],
      'model "image-2 4K", price.currency: ',
    ],
    [
      [{ ...image, price: { per: 'poll', microUnits: 5, currency: 'USD' } }],
      'model "image-2 4K", price.per: ',
    ],
    [[video, { ...image, id: 'video-1' }], 'model "video-1", id: is used by two models'],
    [[{ id: 'x', kind: 'audio' }], 'model "x", kind: '],
    [[{ kind: 'video' }], 'model number 1, id: '],
    [[7], 'model number 1: '],
    [
      [{ ...video, references: [{ kind: 'image', field: 'prompt', shape: 'string', form: 'url' }] }],
      'model "video-1", references[0].field: is already a field of every request. Choose another field',
    ],
    [
      [
        {
          ...video,
          references: [
            { kind: 'image', field: 'a', shape: 'array', form: 'url' },
            { kind: 'image', field: 'a', shape: 'array', form: 'base64' },
          ],
        },
      ],
      'model "video-1", references[1]: has the same kind and field',
    ],
    [
      [{ ...video, polling: { minSeconds: 5, maxSeconds: 3, firstPollSeconds: 0 } }],
      'model "video-1", polling: minSeconds must not exceed maxSeconds',
    ],
  ])('%j', (models, expected) => {
    const reading = read(...models);
    expect(!reading.ok && reading.message).toContain(expected);
  });

  it.each([
    [{}, 3],
    [{ typicalSeconds: 120 }, 60],
    [{ typicalSeconds: 4 }, 3],
    [{ typicalSeconds: 120, firstPollSeconds: 9 }, 9],
  ])(
    '%j: the first poll is after %d s, never sooner than the shortest interval unless it says so',
    (more, first) => {
      const reading = read({ ...video, polling: { minSeconds: 3, maxSeconds: 5, ...more } });
      expect(reading).toMatchObject({
        ok: true,
        configuration: { models: [{ polling: { minSeconds: 3, maxSeconds: 5, firstPollSeconds: first } }] },
      });
    },
  );

  it.each([null, [], 'text', {}, { version: 2, models: [] }, { version: 1 }, { version: 1, models: {} }])(
    'the document %j',
    (document) => {
      const reading = readModelConfiguration(document);
      expect(reading.ok).toBe(false);
      expect(!reading.ok && reading.message).toMatch(/^(document|version|models)/);
    },
  );
});

it('[C0.3] keeps an id exactly as it is written', () => {
  const reading = read({ ...image, id: ' image-2  4K' });
  expect(reading.ok && reading.configuration.models[0]!.id).toBe(' image-2  4K');
});

it('never throws, whatever the document', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const document of [value, { version: 1, models: value }, { version: 1, models: [value] }])
        expect(typeof readModelConfiguration(document).ok).toBe('boolean');
    }),
  );
});

it('reads a document of a hundred thousand models without comparing each with each', () => {
  const models = Array.from({ length: 100_000 }, (_, index) => ({ ...video, id: `m${index}` }));
  const compared = jest.spyOn(Array.prototype, 'findIndex');
  expect(read(...models).ok).toBe(true);
  expect(read(...models, models[0]).ok).toBe(false);
  expect(compared).not.toHaveBeenCalled();
  compared.mockRestore();
});

test('a message stays short, however long the key is that it names', () => {
  const reading = read({ kind: 'video', [`id${'b64_json'.repeat(6_000)}`]: 'open-canvas' });
  if (reading.ok) throw new Error('It was taken.');
  expect(reading.message).toContain('model number 1');
  expect(reading.message.length).toBeLessThan(3_000);
});
