import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type VideoOutcome } from '../../src/domain';
import { accepted } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS } from '../support/test-bundle';

describe('a workflow that needs its video', () => {
  const stack = sharedStack({}, (one) =>
    one.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } }),
  );

  async function need(prompt: string, again: { resumes: number; waitFor?: string }, waitFor = '10m') {
    const { server, taskQueue } = await stack();
    const request = { model: 'sketch-lite', prompt, durationSeconds: 2 };
    return server.client.workflow.execute<() => Promise<{ taskId: string; ends: string[] }>>('needVideo', {
      taskQueue,
      workflowId: server.uniqueId('need'),
      args: [{ request, waitFor }, again] as unknown as [],
    });
  }

  const failureOf = async (running: Promise<unknown>): Promise<ApplicationFailure> => {
    const error: unknown = await running.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkflowFailedError);
    const { cause } = error as WorkflowFailedError;
    expect(cause).toBeInstanceOf(ApplicationFailure);
    return cause as ApplicationFailure;
  };

  it('waits on for the one that it bought, and buys no other', async () => {
    const prompt = 'a slow tide [run:4s]';
    const { ends } = await need(prompt, { resumes: 3 }, '2s');
    expect(ends).toEqual(['still_running', 'completed']);
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it('[C3.4] fails where it is still running, with the task id in the failure', async () => {
    const prompt = 'a slower tide [run:30s]';
    const failure = await failureOf(need(prompt, { resumes: 0 }, '2s'));
    expect(failure).toMatchObject({ type: 'still_running', nonRetryable: false });
    const [outcome] = failure.details as [VideoOutcome];
    expect(outcome).toMatchObject({
      outcome: 'still_running',
      video: { taskId: expect.stringMatching(/./) as string },
    });
  });

  it('fails for good where the same request would be refused again', async () => {
    const failure = await failureOf(need('a riot [fail:moderation]', { resumes: 0 }));
    expect(failure).toMatchObject({ type: 'failed', nonRetryable: true });
    expect(failure.message).toContain('failed/moderation');
    expect(failure.details).toMatchObject([{ outcome: 'failed', error: { kind: 'moderation' } }]);
  });

  it('a wait without a task queue is refused', async () => {
    const { server, taskQueue } = await stack();
    await expect(
      server.client.workflow.execute('resumeNowhere', {
        taskQueue,
        workflowId: server.uniqueId('nowhere'),
      }),
    ).resolves.toMatchObject({ outcome: 'rejected', reason: 'invalid_request', field: 'taskQueue' });
  });
});
