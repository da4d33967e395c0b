import { safeNow, type VideoSituation } from '../../src/domain/video-state';
import { FAILURE_TABLE } from '../../src/domain/failure-table';
import { POLL_ERROR_CLASSES } from '../../src/domain/poll-answers';

const PHASES = ['creating', 'waiting_to_create', 'watching', 'downloading', 'done'] as const;
const OUTCOMES = [
  'completed',
  'still_running',
  'failed',
  'content_unavailable',
  'task_unknown',
  'unconfirmed',
  'rejected',
  'cancelled',
  null,
] as const;
const IDS = [
  null,
  'task_1',
  'job:1.b-c',
  '$(reboot)',
  '-rf',
  'x'.repeat(512),
  '`a` https://x.example/?sig=1',
];

const watching: VideoSituation = {
  phase: 'watching',
  outcome: null,
  taskId: 'task_1',
  account: 'studio@0a1b2c3d',
  lastError: null,
};

const every: VideoSituation[] = PHASES.flatMap((phase) =>
  OUTCOMES.flatMap((outcome) =>
    IDS.flatMap((taskId) =>
      [null, ...POLL_ERROR_CLASSES].flatMap((error) =>
        [null, 'studio@0a1b2c3d'].map((account) => ({
          phase,
          outcome,
          taskId,
          account,
          lastError: error === null ? null : { class: error, httpStatus: 401 },
        })),
      ),
    ),
  ),
);

describe('what is safe to do now', () => {
  it('is said in full sentences for every situation, without an address and without a word for a shell', () => {
    for (const situation of every) {
      const text = safeNow(situation);
      expect(text).toMatch(/^[A-Z`].{15,360}\.$/);
      expect(text).not.toMatch(/:\/\/|undefined|null|\$\(|-rf/);
    }
  });

  it('[C4.4c] never speaks of creating again where a task exists or may exist, but to warn of it', () => {
    const mayExist = new Set(
      FAILURE_TABLE.filter((row) => row.taskMayExist !== 'no').map(({ type }) => type.split('/', 1)[0]),
    );
    for (const situation of every) {
      const { phase, outcome } = situation;
      const exists = phase !== 'done' || outcome === 'completed' || mayExist.has(outcome ?? '');
      if (!exists) continue;
      expect(safeNow(situation)).not.toMatch(/(^|\. )(Create|Start|Resubmit|Try) (it|this|again)/);
    }
  });

  it('names the command that goes on with a task, and the task where that can be pasted', () => {
    expect(safeNow(watching)).toContain('`temporal-media resume task_1`');
    expect(safeNow({ ...watching, taskId: '-rf' })).toContain('`temporal-media resume TASK`');
    for (const outcome of ['still_running', 'content_unavailable', 'cancelled'] as const) {
      expect(safeNow({ ...watching, phase: 'done', outcome })).toContain('`temporal-media resume task_1`');
    }
    expect(safeNow({ ...watching, phase: 'done', outcome: 'cancelled', taskId: null })).not.toContain(
      'resume',
    );
  });

  it('[C7.3] names the credential and the account that the service refuses, with its status', () => {
    const text = safeNow({ ...watching, lastError: { class: 'credentials', httpStatus: 403 } });
    expect(text).toContain('the credential `studio`');
    expect(text).toContain('account `studio@0a1b2c3d`');
    expect(text).toContain('HTTP 403');
  });

  it('says for a create that may have been sent that no other id is safe', () => {
    const other = /not start this video under another id/;
    expect(safeNow({ ...watching, phase: 'creating', taskId: null })).toMatch(other);
    expect(safeNow({ ...watching, phase: 'waiting_to_create', taskId: null })).toMatch(other);
    expect(safeNow({ ...watching, phase: 'done', outcome: 'unconfirmed', taskId: null })).toMatch(other);
  });
});
