import { type RecordedAnswer } from '../../src/domain/log-entries';
import { answers } from '../domain/create-answers';
import { answerEntry, decisionEntry, intentEntry, lostEntry } from '../support/log-entries';
import { type LogBench, openLogBench, traceOf } from './log-bench';

/** The worker that read the reply did not record it: it was killed, or its journal was away. */
describe('a send whose last heartbeat named its task', () => {
  let bench: LogBench;
  beforeEach(async () => {
    bench = await openLogBench();
  });
  afterEach(() => bench.close());

  async function record(answer?: RecordedAnswer, windowEnd = 0): Promise<void> {
    const sendWindowEnd = new Date(windowEnd).toISOString();
    await bench.write(intentEntry({ nonce: 'first', sender: 'first', sendWindowEnd }));
    if (answer !== undefined) await bench.write(answerEntry(answer, { nonce: 'first' }));
  }

  const heard = (taskId = 'video_9', announced = 'first') => {
    const { trace } = traceOf('first', announced);
    return { trace: { ...trace, taskId } };
  };
  const found = { outcome: 'created', sent: true, video: { taskId: 'video_9' } };

  it.each<[string, RecordedAnswer | undefined, number]>([
    ['is open, and its sender may be alive', undefined, Date.now() + 60_000],
    ['is open', undefined, 0],
    ['was given up', answers.unconfirmed(0), 0],
  ])('[C4.4b] and that %s has bought it, once', async (_, answer, windowEnd) => {
    await record(answer, windowEnd);
    for (const _again of [1, 2])
      expect(await bench.reconcile(heard())).toMatchObject({
        ...found,
        warnings: [expect.stringMatching(/last heartbeat/)],
        video: { account: 'default@00000000', model: 'm', durationSeconds: 2, source: 'journal' },
      });
    expect((await bench.kinds()).filter((kind) => kind === 'answer')).toHaveLength(
      answer === undefined ? 1 : 2,
    );
    expect(await bench.state()).toMatchObject({ bought: 0, open: null, unknown: null });
    expect(await bench.journal.findTask('video_9')).toHaveLength(1);
  });

  it('[C4.4b] is the same task when its sender records it after all', async () => {
    bench.onCreate = async () => {
      const intent = (await bench.log()).findLast(({ kind }) => kind === 'intent');
      const announced = intent?.kind === 'intent' ? intent.nonce : '';
      expect(await bench.reconcile(heard('video_1', announced))).toMatchObject({ outcome: 'created' });
    };
    const answer = await bench.create({ sender: 'first' });
    expect(answer).toMatchObject({ outcome: 'created', video: { taskId: 'video_1' } });
    expect(answer).not.toHaveProperty('mayBeOwed');
    expect(await bench.create({ sender: 'next' })).toMatchObject({
      outcome: 'created',
      sent: false,
      video: { taskId: 'video_1' },
    });
    expect(bench.posts()).toBe(1);
  });

  it('[C4.4b] is known where the journal has lost its intent, or noted it as lost', async () => {
    for (const _again of [1, 2])
      expect(await bench.reconcile(heard())).toMatchObject({
        ...found,
        video: { taskId: 'video_9', account: 'default@00000000', model: 'm' },
      });
    expect(await bench.kinds()).toEqual(['lost', 'answer']);
    expect(await bench.create({ sender: 'next' })).toMatchObject({ ...found, sent: false });
    expect(bench.posts()).toBe(0);
  });

  it('[C4.4b] is known where a rebind has noted it', async () => {
    await bench.write(lostEntry({ nonce: 'first', sender: 'first', account: '' }));
    expect(await bench.reconcile(heard())).toMatchObject({
      ...found,
      video: { account: 'default@00000000' },
    });
  });

  it.each(['', '.', 'x'.repeat(513)])('[C4.4c] is unknown where that is no id of a task: %s', async (id) => {
    await record();
    expect(await bench.reconcile(heard(id))).toMatchObject({ outcome: 'unconfirmed' });
  });

  it('[C4.4c] is unknown where that task belongs to another key', async () => {
    const { video } = answers.created(0);
    const taken = { ...video, taskId: 'video_9', account: 'default@00000000' };
    const at = { namespace: 'default', creationKey: 'another', workflowId: null, runId: null };
    await bench.journal.indexTask({ v: 1, ...at, sendAttempt: 0, video: taken });
    await record();
    expect(await bench.reconcile(heard())).toMatchObject({ outcome: 'unconfirmed' });
  });

  it('[C4.4c] counts also after a person has decided about it: it is not bought again', async () => {
    await record(answers.unconfirmed(0));
    await bench.write(decisionEntry({ about: 'first' }));
    expect(await bench.reconcile(heard())).toMatchObject({ outcome: 'created' });
    expect(await bench.state()).toMatchObject({ bought: 0, unknown: null });
  });
});
