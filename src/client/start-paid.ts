import { createHash, randomUUID } from 'node:crypto';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { otherwise } from '../domain/bug';
import { fingerprintText } from '../domain/fingerprint';
import { DEFAULT_CREDENTIAL, FINGERPRINT_MEMO, isOpen, WORKFLOW } from '../domain/names';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { callSummary, type PaidOperation, type PaidRequest } from '../domain/request';
import { type Shape } from '../domain/shape';
import { GENERATE_VIDEO_SHAPE, IMAGE_WORKFLOW_SHAPE } from '../domain/workflow-inputs';
import { fetchJournalPage } from './ask-worker';
import { CreationKeyConflictError, InvalidInputError, refuseInvalid } from './errors';
import { refuseUnregistered, START_KEYS, type Starter, type StartOptions, temporalOptions } from './options';
import { attach, describeWorkflow, started, type Started } from './workflow-handle';

/** Workflow type, ID prefix and input fields of each paid call. */
const STARTS: {
  readonly [operation in PaidOperation]: {
    readonly type: string;
    /** The prefix of a generated ID. */
    readonly prefix: string;
    readonly shape: Shape;
  };
} = {
  create_video: { type: WORKFLOW.generateVideo, prefix: 'video', shape: GENERATE_VIDEO_SHAPE },
  generate_image: { type: WORKFLOW.generateImage, prefix: 'image', shape: IMAGE_WORKFLOW_SHAPE },
  edit_image: { type: WORKFLOW.editImage, prefix: 'edit', shape: IMAGE_WORKFLOW_SHAPE },
};

/** Returns a start's workflow type and ID. The ID is also the creation key. @throws InvalidInputError */
function paidStart(
  operation: PaidOperation,
  input: object,
  options: StartOptions,
): { readonly type: string; readonly id: string } {
  const { type, prefix, shape } = STARTS[operation];
  refuseInvalid(options, START_KEYS);
  refuseInvalid(input, shape);
  // The workflow ID would silently replace this key, so every start with a generated ID would buy again.
  if ('creationKey' in input)
    throw new InvalidInputError(
      'creationKey',
      'Pass the creation key as the option id, not in the input: {id}.',
    );
  return { type, id: options.id ?? `${prefix}-${randomUUID()}` };
}

/**
 * Starts a paid workflow, or attaches to the workflow with this ID.
 * @throws CreationKeyConflictError, InvalidInputError
 */
export async function startPaid<Outcome extends VideoOutcome | ImageOutcome>(
  starter: Starter,
  paid: PaidRequest,
  input: { readonly account?: string; readonly again?: boolean },
  options: StartOptions,
): Promise<Started<Outcome>> {
  const { client, taskQueue } = starter;
  const { type, id: workflowId } = paidStart(paid.operation, input, options);
  const fingerprint = requestFingerprint(paid, input.account);
  const facts = { model: paid.request?.model, account: input.account ?? DEFAULT_CREDENTIAL };
  const given = temporalOptions(starter, options, { facts, memo: { [FINGERPRINT_MEMO]: fingerprint } });
  const start = (
    workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL' | 'USE_EXISTING',
  ) =>
    client.workflow
      .start(type, {
        staticSummary: callSummary(paid.request),
        ...given,
        taskQueue,
        workflowId,
        workflowIdConflictPolicy,
        workflowIdReusePolicy,
        args: [{ ...input, creationKey: workflowId }],
      })
      .catch(refuseUnregistered);
  // Try a plain start first, because nearly every ID is new.
  try {
    const handle = await start('REJECT_DUPLICATE', 'FAIL');
    return started(handle, handle.firstExecutionRunId, true);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  const before = await describeWorkflow(client.workflow, workflowId);
  const known = before === undefined || before.memo?.[FINGERPRINT_MEMO] === fingerprint;
  if (!known && !(await leftRefused(client, before))) throw new CreationKeyConflictError(workflowId);
  try {
    const again =
      !known ||
      (before !== undefined &&
        (await mayStartAgain<Outcome>(client, taskQueue, before, input.again === true)));
    const handle = await start(again ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE', 'USE_EXISTING');
    const after = await handle.describe();
    if (after.memo?.[FINGERPRINT_MEMO] !== fingerprint) throw new CreationKeyConflictError(workflowId);
    return started(handle, after.runId, after.runId !== before?.runId);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return attach(client, workflowId);
  }
}

/** Whether the service accepted nothing from the workflow. If so, its ID can be reused for a corrected request. */
async function leftRefused(
  client: Client,
  { status, workflowId, runId }: WorkflowExecutionDescription,
): Promise<boolean> {
  if (status.name !== 'COMPLETED') return false;
  return wasRefused(await attach<VideoOutcome | ImageOutcome>(client, workflowId, runId).result());
}

/** Whether a closed workflow may start again, because it bought nothing or because only the journal can decide. */
async function mayStartAgain<Outcome extends VideoOutcome | ImageOutcome>(
  client: Client,
  taskQueue: string,
  description: WorkflowExecutionDescription,
  startsAgain: boolean,
): Promise<boolean> {
  const { status, workflowId, runId } = description;
  if (isOpen(status.name)) return false;
  if (status.name !== 'COMPLETED') return true;
  const outcome = await attach<Outcome>(client, workflowId, runId).result();
  const again = startAgain(outcome, startsAgain);
  return again === 'if_decided' && 'creationKey' in outcome && outcome.creationKey !== null
    ? isDecided(client, taskQueue, outcome.creationKey)
    : again === 'yes';
}

async function isDecided(client: Client, taskQueue: string, creationKey: string): Promise<boolean> {
  const page = await fetchJournalPage(client, taskQueue, { list: 'decided', creationKey }).catch(
    otherwise(undefined),
  );
  return page !== undefined && page.decided.length > 0;
}

/**
 * Returns a request's fingerprint for the memo. The journal's fingerprint also covers the resolved account, which
 * clients do not know.
 */
export function requestFingerprint(paid: PaidRequest, account?: string): string {
  return createHash('sha256')
    .update(fingerprintText(paid, account ?? null))
    .digest('hex');
}

/**
 * Whether a closed workflow with this outcome may start again with its ID, because it bought nothing or because the
 * journal decides. `if_decided` means that it may only after a person has decided about the call.
 * @param again whether to send a refused request again
 */
export function startAgain(
  outcome: VideoOutcome | ImageOutcome,
  again: boolean,
): 'yes' | 'no' | 'if_decided' {
  switch (outcome.outcome) {
    // The new run adopts an existing task from the journal instead of buying again.
    case 'still_running':
    case 'cancelled':
      return 'yes';
    case 'unconfirmed':
      // The journal may have the outcome by now, and a worker sends only if the journal proves that nothing was sent.
      // Other causes need a decision first, because a worker without the journal would send again without knowing about
      // a decision.
      return JOURNAL_MAY_KNOW.has(outcome.evidence.cause) ? 'yes' : 'if_decided';
    case 'results_lost':
      // The call was already paid for. Fetching its results again buys nothing.
      return outcome.fetchable ? 'yes' : 'if_decided';
    case 'rejected':
      return !again && (outcome.reason === 'invalid_request' || outcome.reason === 'moderation')
        ? 'no'
        : 'yes';
    default:
      return 'no';
  }
}

/** Whether a closed workflow was refused. If so, the journal allows a corrected request or gives a reason not to. */
export function wasRefused(outcome: VideoOutcome | ImageOutcome): boolean {
  return outcome.outcome === 'rejected' && outcome.reason !== 'declared_lost';
}

/** Causes of `unconfirmed` for which the journal may have an outcome, because a worker was unavailable or died. */
const JOURNAL_MAY_KNOW: ReadonlySet<string> = new Set([
  'worker_lost',
  'activity_failed',
  'no_answer_in_time',
  'reconcile_failed',
  'no_outcome_recorded',
  // Once the cause of the refusal is fixed, another send within the key's window finds the outcome.
  'same_key_refused',
]);
