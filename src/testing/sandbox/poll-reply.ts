import { compatFailure } from './compat-failure';
import { dialectOf } from './dialect';
import { type Exchange } from './exchange';
import { type FaultAction } from './fault-rule';
import { jsonReply, type SandboxReply } from './sandbox-reply';
import { statusAt, type SandboxTask } from './sandbox-task';
import { failureFields } from './task-failure';
import { mergeRecord } from './task-record';
import { warmTaskVideo } from './task-video';
import { writeRecord } from './write-record';

/** The record of a task as a poll sees it now; faults of the record change it, for good or this once. */
export async function pollReply(
  { core }: Exchange,
  task: SandboxTask,
  fault?: FaultAction,
): Promise<SandboxReply> {
  const compat = core.options.mode === 'compat';
  if (fault?.type === 'task_fails') {
    const failures = compat ? compatFailure(task.model) : failureFields;
    const failure = fault.error === undefined ? failures('unknown', task.turn) : { error: fault.error };
    const progress = fault.progress === undefined ? {} : { failedProgress: fault.progress };
    core.patchTask(task.id, { status: 'failed', failure, ...progress });
  }
  const now = Date.now();
  const status = statusAt(task, now);
  core.pollGaps.polled(task.id, now);
  if (status === 'completed' || status === 'failed') core.pollGaps.forget(task.id);
  // Encoding starts when completion is first seen, so that the download finds the file ready.
  if (status === 'completed') warmTaskVideo(core, task);
  const shown = await writeRecord(core, task, now);
  if (fault?.type === 'status_word') return jsonReply(200, { ...shown, status: fault.status });
  const httpStatus = compat && status === 'failed' ? dialectOf(task.model).failedPollStatus : 200;
  return jsonReply(httpStatus, fault?.type === 'record' ? mergeRecord(shown, fault.patch) : shown);
}
