import { isReportedById, isReportedByTask, type VisibleExecution } from '../../packages/cli/src/orphans/run';
import { awaitVideoWorkflowId } from '../../src/client/resume-video';

const entry = {
  creationKey: 'order',
  sendAttempt: 0,
  taskId: 'task',
  account: 'default@00000000',
  model: 'cine-1',
  createdAt: null,
  workflowId: 'order',
  runId: null,
  activityId: '1',
};
const RESUME = awaitVideoWorkflowId(entry.account, entry.taskId);

/** One run after the other, as `id STATUS`, newest last; the task that they name. */
const runs = (taskId: string, ...all: readonly string[]): VisibleExecution[] =>
  all
    .map((text, n) => {
      const [workflowId = '', name = ''] = text.split(' ');
      const status = { code: 0, name } as unknown as VisibleExecution['status'];
      return { workflowId, status, startTime: new Date(n), searchAttributes: { MediaTaskId: [taskId] } };
    })
    // Visibility lists them in an order of its own.
    .reverse();

describe('a task is reported', () => {
  it.each([
    [true, ['order COMPLETED']],
    [true, ['order TERMINATED', `${RESUME} COMPLETED`]],
    [false, []],
    [false, ['order RUNNING']],
    [false, ['order CONTINUED_AS_NEW']],
    [false, ['order COMPLETED', 'order TERMINATED']],
    [false, ['order TERMINATED', `${RESUME} COMPLETED`, `${RESUME} TERMINATED`]],
    [false, ['another COMPLETED']],
  ])('%s by its workflow and its resume, where visibility lists %j', (expected, listed) =>
    expect(isReportedById(entry, runs('task', ...listed))).toBe(expected),
  );

  it.each([
    [true, 'task', ['another COMPLETED']],
    [true, 'task', ['order TERMINATED', 'another TERMINATED', 'another COMPLETED']],
    [false, 'other task', ['another COMPLETED']],
    [false, 'task', ['another CONTINUED_AS_NEW', 'another TERMINATED']],
    [false, 'task', ['order CONTINUED_AS_NEW', 'order TERMINATED']],
    // The newest run of these ids may be one without the attribute: they are asked for by their ids.
    [false, 'task', ['order COMPLETED', `${RESUME} COMPLETED`]],
  ])('%s by others that name %s, where visibility lists %j', (expected, taskId, listed) =>
    expect(isReportedByTask(entry, runs(taskId, ...listed))).toBe(expected),
  );
});
