import { mayHaveUsedAnother } from '../../src/activities/unknown-sends';
import { NO_ANSWER, senderTrace } from '../../src/workflows/create-once';
import { answers } from '../domain/create-answers';

const SCHEDULED = { sender: 'its own', scheduledAt: '2026-05-01T10:00:00.000Z' };
/** The queue got another journal while the create waited for a worker. */
const REBOUND = '2026-05-01T11:00:00.000Z';

describe('what is known of a create that brought no answer', () => {
  it.each([
    ['a create', undefined],
    ['a row of a group', 0],
  ])('%s that no worker had is proved unsent in whichever journal', (_title, place) => {
    const never = { cause: 'no_worker', neverStarted: true, heartbeat: null };
    const proved = senderTrace(never, SCHEDULED, place);
    expect(proved).toMatchObject({ sender: 'its own', announced: null });
    expect(mayHaveUsedAnother(proved.scheduledAt, REBOUND)).toBe(false);
    expect(mayHaveUsedAnother(senderTrace(NO_ANSWER, SCHEDULED, place).scheduledAt, REBOUND)).toBe(true);
  });

  it('of a group is the word of its place', () => {
    const heartbeat = { intents: [null, 'n', 'm'], taskIds: [null, null, 'video_1'] };
    const lost = { cause: 'worker_lost', neverStarted: false, heartbeat };
    expect(senderTrace(lost, SCHEDULED, 2)).toStrictEqual({
      ...SCHEDULED,
      announced: 'm',
      taskId: 'video_1',
    });
    expect(senderTrace(lost, SCHEDULED, 1)).toStrictEqual({ ...SCHEDULED, announced: 'n' });
    expect(senderTrace(lost, SCHEDULED, 0)).toStrictEqual({ ...SCHEDULED, announced: null });
  });

  it('is what an answer says that left its send open: which one it is about', () => {
    const pending = { ...answers.pending(0), announced: 'n' };
    expect(senderTrace(pending, SCHEDULED)).toStrictEqual({ ...SCHEDULED, announced: 'n' });
    const told = senderTrace({ ...pending, taskId: 'video_1' }, SCHEDULED);
    expect(told).toStrictEqual({ ...SCHEDULED, announced: 'n', taskId: 'video_1' });
    expect(senderTrace(answers.pending(0), SCHEDULED)).toEqual({ ...SCHEDULED, announced: null });
  });
});
