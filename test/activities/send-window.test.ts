import { join } from 'node:path';
import { certainlyOverAt, sendWindow } from '../../src/activities/send-window';
import { type ModelEntry } from '../../src/domain/model-config';
import { requestBudgetMs } from '../../src/domain/request-budget';
import { createFileJournal } from '../../src/journal';
import { type ContractBench, openBench } from '../contract/contract-bench';

const SECOND = 1000;

describe('how long a paid request may take', () => {
  it.each([
    ['video', undefined, 60],
    ['image', undefined, 240],
    ['video', {}, 60],
    ['image', {}, 240],
    ['video', { requestSeconds: 62 }, 62],
    ['image', { requestSeconds: 5 }, 5],
  ] as const)('of a %s with the entry %j: %d s', (kind, entry, seconds) => {
    expect(requestBudgetMs(kind, entry)).toBe(seconds * SECOND);
  });
});

describe('the window of a send', () => {
  const who = { startedAt: 0, startToCloseMs: 1_000 * SECOND };

  it('begins with the intent, however long the preparation took, and gives the request its whole time', () => {
    const window = sendWindow(who, 100 * SECOND, { budgetMs: 300 * SECOND, afterMs: 240 * SECOND });
    expect(window).toMatchObject({ sendBy: 110 * SECOND, endsAt: 650 * SECOND });
    expect(certainlyOverAt(window)).toBe(660 * SECOND);
  });

  it('never outlasts the activity', () => {
    const window = sendWindow(who, 695 * SECOND, { budgetMs: 300 * SECOND, afterMs: 240 * SECOND });
    expect(window).toMatchObject({ sendBy: 700 * SECOND, endsAt: 1_000 * SECOND });
  });
});

describe('the intent of a paid call', () => {
  let bench: ContractBench;
  const entries: readonly ModelEntry[] = [
    { id: 'quick', kind: 'video' },
    { id: 'slow', kind: 'video', requestSeconds: 300 },
    { id: 'picture', kind: 'image' },
    { id: 'slow picture', kind: 'image', requestSeconds: 30 },
  ];
  beforeAll(async () => {
    bench = await openBench({ models: entries });
  });
  afterAll(() => bench.close());

  /** Milliseconds from each intent to the end of its window, by model. */
  async function windows(): Promise<Record<string, number>> {
    const journal = createFileJournal({ root: join(bench.root, 'journal') });
    const { keys } = await journal.scan(null, 100);
    return Object.fromEntries(
      keys.flatMap(({ epochs }) =>
        epochs.flatMap(({ slot }) =>
          slot?.kind === 'intent' ? [[slot.model, Date.parse(slot.sendWindowEnd) - Date.parse(slot.at)]] : [],
        ),
      ),
    );
  }

  it('[C4.4a] says how long its sender may be alive by the entry of its model', async () => {
    for (const model of ['quick', 'slow']) await bench.create({ model });
    for (const model of ['picture', 'slow picture']) await bench.generate({ model });
    expect(await windows()).toEqual({
      quick: 80 * SECOND,
      slow: 320 * SECOND,
      picture: 500 * SECOND,
      'slow picture': 290 * SECOND,
    });
  });

  it('[C4.4a] an activity with less time sends nothing, and names the option and its least value', async () => {
    const before = (await bench.seen()).length;
    const outcome = await bench.generate(
      { model: 'slow picture' },
      {},
      { startToCloseTimeoutMs: 20 * SECOND },
    );
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'not_sent', billing: { state: 'none' } });
    const { message } = outcome as { message: string };
    for (const told of ['startToCloseTimeout of this activity is 20 s', '50 s or more'])
      expect(message).toContain(told);
    expect(await bench.seen()).toHaveLength(before);
  });
});
