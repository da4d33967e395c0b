import { Worker } from '@temporalio/worker';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';

type Creating = Parameters<(typeof Worker)['createWorkflowCreator']>;

/**
 * A replay worker without what makes replays slow and says nothing about determinism: a thread that limits each call into
 * the sandbox, which costs more than the call itself, a stack trace for each promise, and a walk through the payloads of
 * each workflow task in search of something to decode. The payloads of a loaded history are decoded.
 */
export class ReplayWorker extends Worker {
  protected static override async createWorkflowCreator(
    ...[bundle, options, logger]: Creating
  ): ReturnType<(typeof Worker)['createWorkflowCreator']> {
    // Without a limit, the sandbox is called without a thread.
    const unlimited = { ...options, isolateExecutionTimeoutMs: undefined } as unknown as Creating[1];
    const creator = await super.createWorkflowCreator(bundle, unlimited, logger);
    globalHandlers.uninstall();
    return creator;
  }

  protected override async createWorkflow(
    ...args: Parameters<Worker['createWorkflow']>
  ): ReturnType<Worker['createWorkflow']> {
    const created = await super.createWorkflow(...args);
    const { workflowCodecRunner: codecs } = created;
    codecs.decodeActivation = (activation) => Promise.resolve(activation as never);
    codecs.encodeCompletion = (completion) => {
      this.keep(completion.successful?.commands ?? []);
      return Promise.resolve(completion as never);
    };
    return created;
  }

  /** Receives the commands of each workflow task. */
  protected keep(_commands: readonly object[]): void {
    // Only who compares them needs them.
  }
}
