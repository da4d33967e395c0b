import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MetricKey, type Metrics } from '../../../src/domain/metrics';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { measuredJournal, showNoFailures } from '../../../src/worker/telemetry';
import { fenceEntry, LOG_KEY as KEY } from '../../support/log-entries';

describe('a measured journal', () => {
  let folder: string;
  let seen: { key: MetricKey; value: number; labels: object }[];
  const metrics: Metrics = { record: (key, value, labels) => void seen.push({ key, value, labels }) };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'measured-journal-'));
    seen = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('answers as the journal in it does, and reports each operation once', async () => {
    let now = 0;
    const journal = measuredJournal(createFileJournal({ root: folder }), metrics, () => (now += 3));
    expect(await journal.identity()).toEqual(await createFileJournal({ root: folder }).identity());
    expect(await journal.append(KEY, 0, fenceEntry())).toBe('won');
    expect(await journal.append(KEY, 0, fenceEntry())).toBe('lost');
    expect(await journal.read(KEY)).toEqual([fenceEntry()]);
    expect(seen).toEqual(
      ['append', 'append', 'read'].map((operation) => ({
        key: 'journalLatency',
        value: 3,
        labels: { operation, kind: 'file' },
      })),
    );
  });

  it('passes on the error of the journal and counts it', async () => {
    const broken = createFileJournal({ root: folder });
    const error = new Error('disk');
    const journal = measuredJournal({ ...broken, read: () => Promise.reject(error) }, metrics);
    await expect(journal.read(KEY)).rejects.toBe(error);
    expect(seen.filter(({ key }) => key === 'journalFailures')).toEqual([
      { key: 'journalFailures', value: 1, labels: { operation: 'read', kind: 'file' } },
    ]);
  });

  it('has every operation of a journal, and shows those that may fail at 0', () => {
    const journal = createFileJournal({ root: folder });
    expect(Object.keys(measuredJournal(journal, metrics)).sort()).toEqual(Object.keys(journal).sort());
    showNoFailures(journal, metrics);
    expect(seen).toHaveLength(Object.keys(journal).length - 3);
  });
});
