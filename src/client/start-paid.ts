import { createHash, randomUUID } from 'node:crypto';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { isOpen } from '../domain/execution-status';
import { fingerprintText } from '../domain/fingerprint';
import { type Keys } from '../domain/known-keys';
import { FINGERPRINT_MEMO, WORKFLOW } from '../domain/names';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { type PaidOperation, type PaidRequest } from '../domain/request';
import { GENERATE_VIDEO_KEYS, IMAGE_WORKFLOW_KEYS } from '../domain/workflow-inputs';
import { CreationKeyConflictError, InvalidInputError, refuseUnknownKeys } from './errors';
import { START_KEYS, type StartOptions } from './options';
import { reviewJournal } from './ask-worker';
import { startAgain, wasRefused } from './start-again';
import { attach, describeWorkflow, started, type Started } from './started';

/** Workflow type, id prefix and input fields of each paid call. */
const STARTS: {
  readonly [operation in PaidOperation]: {
    readonly type: string;
    /** Prefix of a generated id. */
    readonly prefix: string;
    readonly keys: Keys;
  };
} = {
  create_video: { type: WORKFLOW.generateVideo, prefix: 'video', keys: GENERATE_VIDEO_KEYS },
  generate_image: { type: WORKFLOW.generateImage, prefix: 'image', keys: IMAGE_WORKFLOW_KEYS },
  edit_image: { type: WORKFLOW.editImage, prefix: 'edit', keys: IMAGE_WORKFLOW_KEYS },
};

/** Workflow type and id of a start; the id is also the creation key. @throws InvalidInputError */
function paidStart(
  operation: PaidOperation,
  input: object,
  options: StartOptions,
): { readonly type: string; readonly id: string } {
  const { type, prefix, keys } = STARTS[operation];
  refuseUnknownKeys(options, START_KEYS);
  refuseUnknownKeys(input, keys);
  // The id would silently replace it, and each start with a generated id buys again.
  if ('creationKey' in input)
    throw new InvalidInputError('creationKey', 'The creation key is given as id, beside the input: {id}.');
  return { type, id: options.id ?? `${prefix}-${randomUUID()}` };
}

/**
 * Starts a paid workflow, or attaches to the one with this id.
 * @throws CreationKeyConflictError, InvalidInputError
 */
export async function startPaid<Outcome extends VideoOutcome | ImageOutcome>(
  client: Client,
  taskQueue: string,
  paid: PaidRequest,
  input: { readonly account?: string; readonly again?: boolean },
  options: StartOptions,
): Promise<Started<Outcome>> {
  const { type, id: workflowId } = paidStart(paid.operation, input, options);
  const fingerprint = requestFingerprint(paid, input.account);
  const start = (workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE') =>
    client.workflow.start(type, {
      taskQueue,
      workflowId,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy,
      memo: { [FINGERPRINT_MEMO]: fingerprint },
      args: [{ ...input, creationKey: workflowId }],
    });
  const before = await describeWorkflow(client, workflowId);
  const known = before === undefined || before.memo?.[FINGERPRINT_MEMO] === fingerprint;
  if (!known && !(await leftRefused(client, before))) throw new CreationKeyConflictError(workflowId);
  try {
    const again =
      !known ||
      (before !== undefined &&
        (await mayStartAgain<Outcome>(client, taskQueue, before, input.again === true)));
    const handle = await start(again ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE');
    const after = await handle.describe();
    if (after.memo?.[FINGERPRINT_MEMO] !== fingerprint) throw new CreationKeyConflictError(workflowId);
    return started(handle, after.runId, after.runId !== before?.runId);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return attach(client, workflowId);
  }
}

/** Whether the service accepted nothing from the workflow: its id is then free for the corrected request. */
async function leftRefused(
  client: Client,
  { status, workflowId, runId }: WorkflowExecutionDescription,
): Promise<boolean> {
  if (status.name !== 'COMPLETED') return false;
  return wasRefused(await attach<VideoOutcome | ImageOutcome>(client, workflowId, runId).result());
}

/** Whether a closed workflow of this id bought nothing, or its status does not show it: the journal then decides. */
async function mayStartAgain<Outcome extends VideoOutcome | ImageOutcome>(
  client: Client,
  taskQueue: string,
  description: WorkflowExecutionDescription,
  wanted: boolean,
): Promise<boolean> {
  const { status, workflowId, runId } = description;
  if (isOpen(status.name)) return false;
  if (status.name !== 'COMPLETED') return true;
  const outcome = await attach<Outcome>(client, workflowId, runId).result();
  const again = startAgain(outcome, wanted);
  return again === 'if_decided' && 'creationKey' in outcome && outcome.creationKey !== null
    ? isDecided(client, taskQueue, outcome.creationKey)
    : again === 'yes';
}

async function isDecided(client: Client, taskQueue: string, creationKey: string): Promise<boolean> {
  const page = await reviewJournal(client, taskQueue, { list: 'decided', creationKey }).catch(
    () => undefined,
  );
  return page !== undefined && page.decided.length > 0;
}

/** Fingerprint of a request for the memo. That of the journal also covers the resolved account, unknown to a client. */
export function requestFingerprint(paid: PaidRequest, account?: string): string {
  return createHash('sha256')
    .update(fingerprintText(paid, account ?? null))
    .digest('hex');
}
