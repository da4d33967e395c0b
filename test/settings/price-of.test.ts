import fc from 'fast-check';
import { type ModelEntry } from '../../src/domain/model-config';
import { estimateFor } from '../../src/domain/money';

const priced = (per: 'task' | 'second'): ModelEntry => ({
  id: 'm',
  kind: 'video',
  price: { per, microUnits: 100, currency: 'USD' },
});
const create = (durationSeconds?: number) =>
  ({
    operation: 'create_video',
    request: { model: 'm', prompt: 'p', ...(durationSeconds === undefined ? {} : { durationSeconds }) },
  }) as const;

it('[C1.5] prices come from the rule; without one the estimate is unknown, never 0', () => {
  expect(estimateFor(create(4), priced('task'))).toEqual({ microUnits: 100, currency: 'USD' });
  expect(estimateFor(create(4), priced('second'))).toEqual({ microUnits: 400, currency: 'USD' });
  expect(estimateFor(create(), priced('second'))).toBeNull();
  expect(estimateFor(create(4), { id: 'm', kind: 'video' })).toBeNull();
  expect(estimateFor(create(4), undefined)).toBeNull();
});

it('[C1.7] a larger n raises the estimate of an image call', () => {
  const entry: ModelEntry = {
    id: 'i',
    kind: 'image',
    price: {
      per: 'specification',
      currency: 'USD',
      specifications: [{ size: '1024x1024', microUnits: 10 }, { microUnits: 30 }],
    },
  };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), (n) => {
      const paid = (size: string) =>
        ({ operation: 'generate_image', request: { model: 'i', prompt: 'p', size, n } }) as const;
      expect(estimateFor(paid('1024x1024'), entry)?.microUnits).toBe(10 * n);
      expect(estimateFor(paid('2048x2048'), entry)?.microUnits).toBe(30 * n);
    }),
  );
});
