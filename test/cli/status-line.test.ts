import { statusLine } from '../../packages/cli/src/shared/report';
import { type VideoState } from '../../src/domain/video-state';
import { videoTaskById } from '../../src/domain/video-task';

const watching: VideoState = {
  phase: 'watching',
  creationKey: 'k',
  taskId: 'task-1',
  video: videoTaskById('task-1', 'default@00000000'),
  estimate: null,
  deadlineAt: null,
  nextPollAt: null,
  nextCreateAt: null,
  waitingFor: null,
  sends: 1,
  watch: { lastStatus: 'in_progress', lastChangeAt: null, lastPollAt: null, polls: 2 },
  lastChangeAt: null,
  lastPollAt: null,
  polls: 2,
  lastHttpStatus: 200,
  consecutiveErrors: 0,
  outcome: null,
};

describe('statusLine', () => {
  test('[C2.2.4] without a number from the service there is no percentage', () => {
    expect(statusLine(watching)).toBe('task task-1: in_progress');
    expect(statusLine({ ...watching, watch: null })).not.toMatch(/%|\d+ ?\/ ?\d+/);
  });

  test('with one it is shown as it came', () => {
    const watch = { lastStatus: 'in_progress', lastChangeAt: null, lastPollAt: null, polls: 2, progress: 0 };
    expect(statusLine({ ...watching, watch })).toBe('task task-1: in_progress 0%');
  });

  test('a create that was refused before says which try it is', () => {
    const creating: VideoState = { ...watching, phase: 'creating', taskId: null, video: null, watch: null };
    expect(statusLine({ ...creating, sends: 0 })).toBe('creating');
    expect(statusLine({ ...creating, sends: 2 })).toBe('creating, attempt 3');
  });

  test('a download says until when the service keeps the result, where it told', () => {
    const expiresAt = '2027-01-15T08:00:00.000Z';
    const kept = { lastStatus: 'completed', lastChangeAt: null, lastPollAt: null, polls: 2, expiresAt };
    expect(statusLine({ ...watching, phase: 'downloading', watch: kept })).toMatch(
      /: downloading, available at the service until 2027-01-15T08:00:00\.000Z$/,
    );
    expect(statusLine({ ...watching, phase: 'downloading' })).toMatch(/: downloading$/);
  });

  test('a wait says what it waits for', () => {
    const state: VideoState = { ...watching, phase: 'waiting_to_create', waitingFor: 'connection_refused' };
    expect(statusLine(state)).toContain('connection_refused');
  });
});
