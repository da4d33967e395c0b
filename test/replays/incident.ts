import { type WorkflowHandle } from '@temporalio/client';
import { TemporalMediaClient } from '../../src/client';
import { UPDATE } from '../../src/domain/names';
import { type CliBench } from '../cli/support/cli-bench';
import { eventually } from '../support/eventually';

/**
 * A video that goes wrong three times: the reply to its create is lost after the service has accepted it, polls are answered
 * with 503, and its file has expired when it is finished. In between a person finds the task and adopts it.
 * @param search what the person does before the decision
 */
export async function incident(
  { server, sandbox, clientEnv }: CliBench,
  id: string,
  search: () => Promise<void> = async () => undefined,
): Promise<WorkflowHandle> {
  const taskQueue = String(clientEnv['MEDIA_TASK_QUEUE']);
  const media = new TemporalMediaClient(server.client, { taskQueue });
  const request = {
    model: 'cine-1',
    prompt: 'a kite over the sea [lost-reply] [run:6s] [content:expired]',
    durationSeconds: 2,
  };
  await media.startVideo({ request, onUnconfirmed: 'wait' }, { id });
  const handle = server.client.workflow.getHandle(id);
  await eventually(
    'the wait for a decision',
    async () => (await media.videoState(id)).phase === 'unconfirmed',
  );
  await search();
  const [task] = await sandbox.admin.tasks();
  await sandbox.admin.addFaults([
    { operation: 'poll', skip: 1, times: 2, action: { type: 'status', status: 503 } },
  ]);
  const { evidence } = await media.videoState(id);
  await handle.executeUpdate(UPDATE.adopt, {
    args: [
      { sendId: evidence?.sendId, taskId: task?.id, by: 'sam', reason: 'in the task records of the service' },
    ],
  });
  await handle.result();
  return handle;
}
