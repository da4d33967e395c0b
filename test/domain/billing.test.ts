import { type JsonValue } from '../../src/domain/json';
import { finishedState } from '../../src/domain/money';

describe('what a finished call has cost', () => {
  it.each<JsonValue | undefined>([
    undefined,
    null,
    {},
    [],
    '',
    ' ',
    true,
    { tokens: null },
    { model: 'cine-1' },
    [{}],
  ])('[C1.9] a usage of %j settles nothing: a person must look', (usage) => {
    expect(finishedState(usage)).toBe('needs_review');
  });

  it.each<JsonValue>([
    0,
    12,
    '0.40',
    { seconds: 4 },
    { total: { tokens: 0 } },
    [{ images: 2 }],
    { cost: '1e-2' },
  ])('a usage of %j says how much, and settles it', (usage) => {
    expect(finishedState(usage)).toBe('settled');
  });
});
