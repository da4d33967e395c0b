import { randomUUID } from 'node:crypto';
import { msToTs } from '@temporalio/common/lib/time';
import { type CliReply, runJson } from '../cli/support/run-cli';
import { eventually } from './eventually';
import { type MediaStack } from './media-stack';

/** gRPC codes of a server that does not have a command, or has it switched off. */
const LACKING: readonly unknown[] = [3, 9, 12];

/** What people do to a workflow in the Temporal UI, by the same calls of the server. */
export function uiOf({ server, env }: MediaStack) {
  const { namespace, client } = server;
  const { workflowService } = client;
  const identity = 'ui';
  const pauseRequest = (workflowId: string) => ({
    namespace,
    workflowId,
    identity,
    reason: 'a look',
    requestId: randomUUID(),
  });
  const activity = (workflowId: string, type: string) => ({
    namespace,
    execution: { workflowId },
    type,
    identity,
  });
  const override = (workflowId: string, versioningOverride: object) =>
    workflowService.updateWorkflowExecutionOptions({
      namespace,
      workflowExecution: { workflowId },
      workflowExecutionOptions: { versioningOverride },
      updateMask: { paths: ['versioning_override'] },
    });
  const pauseNow = (workflowId: string): Promise<boolean> =>
    workflowService.pauseWorkflowExecution(pauseRequest(workflowId)).then(
      () => true,
      (error: unknown) => {
        if (LACKING.includes((error as { code?: unknown }).code)) return false;
        throw error;
      },
    );
  return {
    /**
     * Pauses while no workflow task is pending. A pause between the schedule and the start of one damages the history
     * for the SDK, until somebody resets it.
     * @returns false where the server does not have the command, or has it switched off
     */
    pause: async (workflowId: string): Promise<boolean> => {
      await eventually('an idle workflow', async () => {
        const { raw } = await client.workflow.getHandle(workflowId).describe();
        return raw.pendingWorkflowTask == null;
      });
      return pauseNow(workflowId);
    },
    pauseNow,
    unpause: (workflowId: string) => workflowService.unpauseWorkflowExecution(pauseRequest(workflowId)),
    delete: (workflowId: string) =>
      workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } }),
    pauseActivity: (workflowId: string, type: string) =>
      workflowService.pauseActivity({ ...activity(workflowId, type), reason: 'a look' }),
    unpauseActivity: (workflowId: string, type: string) =>
      workflowService.unpauseActivity({ ...activity(workflowId, type), resetAttempts: true }),
    resetActivity: (workflowId: string, type: string) =>
      workflowService.resetActivity({ ...activity(workflowId, type), resetHeartbeat: true }),
    /** One attempt more or less, and less time. */
    limitActivity: (workflowId: string, type: string, maximumAttempts: number, startToCloseMs: number) =>
      workflowService.updateActivityOptions({
        ...activity(workflowId, type),
        activityOptions: {
          retryPolicy: { maximumAttempts, initialInterval: msToTs('1s') },
          startToCloseTimeout: msToTs(startToCloseMs),
        },
        updateMask: { paths: ['retry_policy.maximum_attempts', 'start_to_close_timeout'] },
      }),
    /** As `temporal workflow update-options --versioning-override-behavior`. */
    moveToCurrentVersion: (workflowId: string) => override(workflowId, { autoUpgrade: true }),
    pinTo: (workflowId: string, deploymentName: string, buildId: string) =>
      override(workflowId, { pinned: { behavior: 1, version: { deploymentName, buildId } } }),
    /** The command that the table names for afterwards. */
    run: async (...args: readonly string[]): Promise<{ readonly code: number | null } & CliReply> => {
      const { code, reply } = await runJson(args, env);
      return { code, ...reply };
    },
  };
}
