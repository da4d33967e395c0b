import { provesNotSent } from '../../src/domain/journal-proof';
import { NO_ANSWER, senderTrace } from '../../src/workflows/create-once';

const SCHEDULED = '2026-05-01T10:00:00.000Z';
/** The queue got another journal while the create waited for a worker. */
const REBOUND = { journalId: 'new', boundSince: '2026-05-01T11:00:00.000Z', intents: [] };

describe('what is known of those who may have sent', () => {
  it.each([
    ['a create', undefined],
    ['a row of a group', 0],
  ])('%s that no worker had is proved unsent in whichever journal', (_title, place) => {
    const never = { cause: 'no_worker', neverStarted: true, heartbeat: null };
    expect(provesNotSent(senderTrace(never, SCHEDULED, place), REBOUND)).toBe(true);
    expect(provesNotSent(senderTrace(NO_ANSWER, SCHEDULED, place), REBOUND)).toBe(false);
  });

  it('of a group is the word of its place', () => {
    const heartbeat = { journalId: 'old', intents: [null, 'n'], taskIds: [null, null] };
    const lost = { cause: 'worker_lost', neverStarted: false, heartbeat };
    expect(senderTrace(lost, SCHEDULED, 1).lastHeartbeat).toEqual({ journalId: 'old', intent: 'n' });
    expect(senderTrace(lost, SCHEDULED, 0).lastHeartbeat).toEqual({ journalId: 'old', intent: null });
  });
});
