import { join } from 'node:path';
import { type ModelEntry } from '../../src/domain/model-config';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { type ContractBench, openBench } from './contract-bench';

const SECOND = 1000;

describe('the intent of a paid call', () => {
  let bench: ContractBench;
  const entries: readonly ModelEntry[] = [
    { id: 'sketch-lite', kind: 'video' },
    { id: 'cine-1', kind: 'video', requestSeconds: 300 },
    { id: 'image-2', kind: 'image' },
    { id: 'image-2 4K', kind: 'image', requestSeconds: 30 },
  ];
  beforeAll(async () => {
    bench = await openBench({ models: entries });
  });
  afterAll(() => bench.close());

  /** Milliseconds from each intent to the end of its window, by model. */
  async function windows(): Promise<Record<string, number>> {
    const journal = createFileJournal({ root: join(bench.root, 'journal') });
    const { logs } = await journal.scan(null, 100);
    return Object.fromEntries(
      logs
        .flat()
        .flatMap((entry) =>
          entry.kind === 'intent'
            ? [[entry.model, Date.parse(entry.sendWindowEnd) - Date.parse(entry.at)]]
            : [],
        ),
    );
  }

  it('[C4.4a] says how long its sender may be alive by the entry of its model', async () => {
    for (const model of ['sketch-lite', 'cine-1']) await bench.create({ model });
    for (const model of ['image-2', 'image-2 4K']) await bench.generate({ model });
    expect(await windows()).toEqual({
      'sketch-lite': 80 * SECOND,
      'cine-1': 320 * SECOND,
      'image-2': 500 * SECOND,
      'image-2 4K': 290 * SECOND,
    });
  });

  it('[C4.4a] an activity with less time sends nothing, and names the option and its least value', async () => {
    const before = (await bench.seen()).length;
    const outcome = await bench.generate({ model: 'image-2 4K' }, {}, { startToCloseTimeoutMs: 20 * SECOND });
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'not_sent', billing: { state: 'none' } });
    const { message } = outcome as { message: string };
    for (const told of ['startToCloseTimeout is 20 s', '50 s or more']) expect(message).toContain(told);
    expect(await bench.seen()).toHaveLength(before);
  });
});
