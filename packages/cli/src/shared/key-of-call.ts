import { type ExecutionIds } from '@temporal-media/replay/internal/fetch-histories';
import { type Client } from '@temporalio/client';
import { type ImageOutcome } from 'temporal-media';
import { recordedAnswer } from 'temporal-media/internal/activities/paid-answers';
import { mayBeAlive } from 'temporal-media/internal/activities/send-window';
import { type SentUnder } from 'temporal-media/internal/client/ask-worker';
import { readRunStart } from 'temporal-media/internal/client/read-payloads';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { runKey } from 'temporal-media/internal/domain/creation-key';
import { imageOutcome, outcomes } from 'temporal-media/internal/domain/outcome';

/** The fields of a paid call's input from which its creation key follows. */
interface PaidStart {
  readonly creationKey?: unknown;
  /** What a continue-as-new carried over. */
  readonly carried?: { readonly creationKey?: unknown; readonly create?: { readonly creationKey?: unknown } };
}

/** Returns the creation key in a paid call's input, or undefined if it has none. */
export function keyInInput(input: unknown): string | undefined {
  const { creationKey, carried } = (input ?? {}) as PaidStart;
  const known = [creationKey, carried?.creationKey, carried?.create?.creationKey];
  return known.find((key): key is string => typeof key === 'string' && key !== '');
}

/**
 * Returns the creation key of a workflow that makes one paid call, from its start: the key in its input, or the one that
 * its run derives. Undefined if the input cannot be read here.
 */
export async function keyOfWorkflow(
  client: Client,
  { workflowId, runId }: ExecutionIds,
): Promise<string | undefined> {
  const { started, input } = await readRunStart(client, { workflowId, runId });
  if (input === undefined) return undefined;
  // A retry derives its key in another way.
  const original = (started?.attempt ?? 1) > 1 ? undefined : started?.originalExecutionRunId;
  return keyInInput(input.value) ?? (original ? runKey(workflowId, original, 0) : undefined);
}

/** Returns the creation key of an image call without a workflow. Undefined if its input cannot be read here. */
export async function keyOfActivity(
  client: Client,
  { activityId, runId }: { readonly activityId: string; readonly runId: string },
): Promise<string | undefined> {
  const found = await client.activity.getHandle(activityId, runId).describe({ includeInput: true });
  const input = await found.getInput<unknown[]>().catch(otherwise(undefined));
  return input && (keyInInput(input[0]) ?? activityId);
}

/** Returns how a call ended according to the journal. Null if it has no outcome yet, or created a task. */
export function loggedOutcome({ log, open }: SentUnder, creationKey: string): ImageOutcome | null {
  if (open?.state === 'unconfirmed') {
    const { sendAttempt, evidence, estimate } = open;
    const { account } = evidence;
    const call = { outcome: 'unconfirmed', sent: true, sendAttempt, account, estimate, evidence } as const;
    return outcomes.unconfirmed(call, creationKey);
  }
  if (log === undefined) return null;
  const at = log.bought ?? log.open ?? log.unknown ?? log.sends.length - 1;
  // Its sender may still be running.
  if (at === log.open && mayBeAlive(log, Date.now())) return null;
  const answer = recordedAnswer(log, at);
  return answer.outcome === 'created' ? null : (imageOutcome(answer, creationKey) ?? null);
}
