import { MockActivityEnvironment } from '@temporalio/testing';
import { type LogEntry } from '@temporalio/worker';
import { connectFailure, postgresError } from '../../packages/store-postgres/src/postgres-error';
import { s3Error } from '../../packages/store-s3/src/s3-error';
import { journalDown, journalUnavailable } from '../../src/activities/key-log';
import { JournalRecordError } from '../../src/stores/journal/records';

const BASE = { sendAttempt: 0, sent: false, account: null, estimate: null };

describe('a journal that fails', () => {
  it.each([
    [
      'a bucket',
      s3Error('A record could not be read', { status: 503, code: 'SlowDown' }),
      'HTTP 503 SlowDown',
    ],
    ['a database', postgresError(connectFailure({ code: 'ECONNREFUSED' }), null), 'ECONNREFUSED'],
    [
      'a record',
      new JournalRecordError('An outcome of the journal cannot be read.'),
      'An outcome of the journal',
    ],
    ['a folder', Object.assign(new Error('EROFS: /srv/secret-folder'), { code: 'EROFS' }), 'failed (EROFS)'],
    ['a store of your own', new TypeError('postgres://user:hunter2@db'), '(TypeError)'],
  ])('says why, with the words of %s, and nothing of folders and disks', (_, fault, why) => {
    const { message } = journalUnavailable(fault);
    expect(message).toContain(why);
    expect(message).not.toMatch(/folder|disk|hunter2/);
  });

  it('repeats no key that a store puts into its words', () => {
    const fault = new JournalRecordError('Bearer sk-0123456789abcdefghijklmnop is not allowed.');
    expect(journalUnavailable(fault).message).not.toContain('0123456789abcdefghijklmnop');
  });

  it('writes one line of log for an attempt, however many calls it holds, and a mistake at ERROR', async () => {
    const lines: LogEntry[] = [];
    const logger = {
      log: (level: LogEntry['level'], message: string, meta: object) =>
        lines.push({ level, message, meta, timestampNanos: 0n }),
    };
    const spoken = Object.fromEntries(
      (['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const).map((level) => [
        level.toLowerCase(),
        (message: string, meta: object) => logger.log(level, message, meta),
      ]),
    );
    const faults = {
      outage: s3Error('A record could not be read', { status: null, code: 'ECONNRESET' }),
      mistake: new TypeError('undefined is not a function'),
    };
    const attempt = (fault: Error = faults.outage) =>
      new MockActivityEnvironment({}, { logger: { ...logger, ...spoken } as never }).run(async () =>
        Promise.all([1, 2, 3].map(async () => journalDown(BASE)(fault))),
      );
    await attempt();
    const warnings = () => lines.filter(({ level }) => level === 'WARN');
    expect(warnings()).toHaveLength(1);
    expect((warnings()[0]?.meta as { cause: string }).cause).toContain('ECONNRESET');
    await attempt();
    expect(warnings()).toHaveLength(2);
    expect(lines.filter(({ level }) => level === 'ERROR')).toHaveLength(0);
    await attempt(faults.mistake);
    expect(lines.filter(({ level }) => level === 'ERROR')).toHaveLength(1);
  });
});
