import { type CreateJournal } from '../domain/journal';
import { type Metrics } from '../domain/metrics';

/** The operations that are measured, in `snake_case` as labels are. The others run once, at the start of a worker. */
const OPERATIONS = {
  read: 'read',
  append: 'append',
  scan: 'scan',
  findOpenByBody: 'find_open_by_body',
  forgetOpen: 'forget_open',
  indexTask: 'index_task',
  findTask: 'find_task',
  readRecord: 'read_record',
  putRecord: 'put_record',
  putMark: 'put_mark',
  hasMark: 'has_mark',
  checkWritable: 'check_writable',
} as const satisfies { readonly [operation in keyof CreateJournal]?: string };

/** A journal that reports how long each operation took, and which failed. It changes no answer and no error. */
export function measuredJournal(
  journal: CreateJournal,
  metrics: Metrics,
  now: () => number = () => performance.now(),
): CreateJournal {
  const { kind } = journal;
  const measured = Object.entries(OPERATIONS).map(([name, operation]) => {
    const run = journal[name as keyof typeof OPERATIONS].bind(journal) as (
      ...args: unknown[]
    ) => Promise<unknown>;
    const timed = async (...args: unknown[]): Promise<unknown> => {
      const startedAt = now();
      try {
        return await run(...args);
      } catch (error) {
        metrics.record('journalFailures', 1, { operation, kind });
        throw error;
      } finally {
        metrics.record('journalLatency', now() - startedAt, { operation, kind });
      }
    };
    return [name, timed];
  });
  return {
    kind,
    identity: () => journal.identity(),
    sealingKey: () => journal.sealingKey(),
    ...(Object.fromEntries(measured) as Pick<CreateJournal, keyof typeof OPERATIONS>),
  };
}

/** Shows each counter of failures at 0: one that begins with its first failure has no increase to be seen. */
export function showNoFailures({ kind }: CreateJournal, metrics: Metrics): void {
  for (const operation of Object.values(OPERATIONS))
    metrics.record('journalFailures', 0, { operation, kind });
}
