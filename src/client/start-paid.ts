import { createHash, randomUUID } from 'node:crypto';
import {
  ActivityExecutionAlreadyStartedError,
  ActivityNotFoundError,
  type Client,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import { otherwise, throwBug } from '../domain/bug';
import { startAgain, wasRefused } from '../domain/closed-call';
import { DEFAULT_START_LIMIT_MS } from '../domain/create-once';
import { fingerprintText } from '../domain/fingerprint';
import { given } from '../domain/json';
import {
  ACTIVITY,
  activityQueues,
  DEFAULT_CREDENTIAL,
  FINGERPRINT_MEMO,
  isImageActivity,
  isImageWorkflow,
  isOpen,
  WORKFLOW,
} from '../domain/names';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { callSummary, type PaidOperation, type PaidRequest } from '../domain/request';
import { isObject, milliseconds } from '../domain/shape';
import { imageActivityOptions } from '../domain/timeouts';
import {
  type EditImageWorkflowInput,
  GENERATE_VIDEO_SHAPE,
  type GenerateImageWorkflowInput,
  IMAGE_WORKFLOW_SHAPE,
  type PaidWorkflowOptions,
} from '../domain/workflow-inputs';
import { fetchJournalPage } from './ask-worker';
import { CreationKeyConflictError, InvalidInputError, refuseInvalid } from './errors';
import {
  IMAGE_START_KEYS,
  type ImageStartOptions,
  refuseUnregistered,
  type RunAs,
  START_KEYS,
  type Starter,
  type StartOptions,
  temporalOptions,
  WORKFLOW_ONLY,
} from './options';
import { attach, describeWorkflow, started, type Started, startedActivity } from './workflow-handle';
import { describeStandalone, runsStandalone, unlessDenied } from './workflow-service';

/** The workflow of each paid call. */
export const PAID_WORKFLOWS = {
  create_video: WORKFLOW.generateVideo,
  generate_image: WORKFLOW.generateImage,
  edit_image: WORKFLOW.editImage,
} as const satisfies { readonly [operation in PaidOperation]: string };

/** The prefix of a generated ID. */
const PREFIXES = { create_video: 'video', generate_image: 'image', edit_image: 'edit' } as const;

/** Input of a start: a workflow's input without the creation key, which is the option `id`. */
type PaidStart = Omit<PaidWorkflowOptions, 'creationKey'> & { readonly request: unknown };

/** Input of `TemporalMediaClient.images`: an edit if its request has `images`. */
export type ImageStart = Omit<GenerateImageWorkflowInput | EditImageWorkflowInput, 'creationKey'>;

/** Whether a request is an edit. An empty list is an edit too, which is refused. */
const isEdit = (request: unknown): boolean =>
  isObject(request) && (request as { readonly images?: unknown }).images !== undefined;

/** Checks the input of a start and returns the ID, which is also the creation key. @throws InvalidInputError */
function paidId(operation: PaidOperation, input: object, id: string | undefined): string {
  refuseInvalid(input, operation === 'create_video' ? GENERATE_VIDEO_SHAPE : IMAGE_WORKFLOW_SHAPE);
  // The ID would silently replace this key, so every start with a generated ID would buy again.
  if ('creationKey' in input)
    throw new InvalidInputError(
      'creationKey',
      'Pass the creation key as the option id, not in the input: {id}.',
    );
  return id ?? `${PREFIXES[operation]}-${randomUUID()}`;
}

/** What may run a paid call under an ID, as {@link startOnce} needs it. */
interface Runner<Outcome> {
  readonly id: string;
  /** Fingerprint of the request to start. */
  readonly fingerprint: string;
  /** @throws WorkflowExecutionAlreadyStartedError, ActivityExecutionAlreadyStartedError */
  start(
    idReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
    idConflictPolicy: 'FAIL' | 'USE_EXISTING',
  ): Promise<Started<Outcome>>;
  /** Returns the newest execution with this ID; undefined if the server has none. */
  find(): Promise<Execution | undefined>;
  attach(runId?: string): Started<Outcome>;
}

interface Execution {
  readonly runId: string;
  /** Temporal's status. */
  readonly status: string;
  /** Undefined if it cannot be read here. */
  readonly fingerprint: unknown;
}

/**
 * Starts a paid workflow, or attaches to the workflow with this ID.
 * @throws CreationKeyConflictError, InvalidInputError
 */
export async function startPaid<Outcome extends VideoOutcome | ImageOutcome>(
  starter: Starter,
  paid: PaidRequest,
  input: PaidStart,
  options: StartOptions,
): Promise<Started<Outcome>> {
  refuseInvalid(options, START_KEYS);
  const id = paidId(paid.operation, input, options.id);
  return startOnce(starter, workflowRunner<Outcome>(starter, paid, input, { ...options, id }), input);
}

/** Image calls, which an activity without a workflow runs if the server can (architecture: Images). */
export class ImageClient {
  private runsStandalone: Promise<boolean> | undefined;

  /** @hidden */
  constructor(private readonly starter: Starter) {}

  /**
   * Generates images, or edits them if the request has `images`. The same ID with the same request attaches to the
   * running call or returns the first result, whatever ran it first, and never buys twice.
   * @throws CreationKeyConflictError, InvalidInputError
   */
  async start(input: ImageStart, options: ImageStartOptions = {}): Promise<Started<ImageOutcome>> {
    refuseInvalid(options, IMAGE_START_KEYS);
    const { as, ...others } = options;
    const paid = {
      operation: isEdit(input?.request) ? 'edit_image' : 'generate_image',
      request: input?.request,
    } as PaidRequest;
    const given = { ...others, id: paidId(paid.operation, input, options.id) };
    const runAs = await this.runnerOf(as, others);
    const runner = runAs === 'activity' ? activityRunner : workflowRunner<ImageOutcome>;
    return startOnce(this.starter, runner(this.starter, paid, input, given), input);
  }

  /** Starts a call like {@link start} and waits for its outcome. */
  async execute(input: ImageStart, options: ImageStartOptions = {}): Promise<ImageOutcome> {
    return (await this.start(input, options)).result();
  }

  /**
   * Returns a handle to the newest image call with this ID, whatever runs it. Undefined if the server has none. Starts
   * nothing.
   */
  async getHandle(id: string): Promise<Started<ImageOutcome> | undefined> {
    const { client } = this.starter;
    const [workflow, activity] = await Promise.all([
      describeWorkflow(client.workflow, id),
      describeStandalone(client, client.options.namespace, { activityId: id, runId: '' }).catch(unlessDenied),
    ]);
    const info = activity?.info;
    const begun = Number(info?.scheduleTime?.seconds ?? 0) * 1_000;
    if (
      info != null &&
      isImageActivity(info.activityType?.name) &&
      begun + 1_000 > (workflow?.startTime.getTime() ?? 0)
    )
      return startedActivity(client, client.activity.getHandle(id, info.runId ?? ''), false);
    return workflow !== undefined && isImageWorkflow(workflow.type)
      ? attach(client, id, workflow.runId)
      : undefined;
  }

  private async runnerOf(as: RunAs | undefined, options: StartOptions): Promise<RunAs> {
    const only = WORKFLOW_ONLY.find((name) => options[name] !== undefined);
    if (as === 'activity' && only !== undefined)
      throw new InvalidInputError(
        only,
        `An activity without a workflow has no ${only}. Omit it, or pass as: 'workflow'.`,
      );
    if (as !== undefined || only !== undefined) return as ?? 'workflow';
    const { client } = this.starter;
    // A caller that may not describe its namespace gets the workflow, which every server has.
    this.runsStandalone ??= runsStandalone(client, client.options.namespace);
    try {
      return (await this.runsStandalone) ? 'activity' : 'workflow';
    } catch (error) {
      throwBug(error);
      this.runsStandalone = undefined;
      return 'workflow';
    }
  }
}

function workflowRunner<Outcome>(
  starter: Starter,
  paid: PaidRequest,
  input: PaidStart,
  options: StartOptions & { readonly id: string },
): Runner<Outcome> {
  const { client, taskQueue } = starter;
  const { id } = options;
  const type = PAID_WORKFLOWS[paid.operation];
  const fingerprint = requestFingerprint(paid, input.account);
  const memo = { [FINGERPRINT_MEMO]: fingerprint };
  const given = temporalOptions(starter, options, { ...factsOf(paid, input), memo });
  return {
    id,
    fingerprint,
    start: async (workflowIdReusePolicy, workflowIdConflictPolicy) => {
      const handle = await client.workflow.start(type, {
        staticSummary: callSummary(paid.request),
        ...given,
        taskQueue,
        workflowId: id,
        workflowIdConflictPolicy,
        workflowIdReusePolicy,
        args: [{ ...input, creationKey: id }],
      });
      return started(handle, handle.firstExecutionRunId, true);
    },
    find: () => findWorkflow(client, id),
    attach: (runId) => attach(client, id, runId),
  };
}

function activityRunner(
  starter: Starter,
  paid: PaidRequest,
  { queues, ...input }: PaidStart,
  options: StartOptions & { readonly id: string },
): Runner<ImageOutcome> {
  const { client, taskQueue } = starter;
  const { id, staticSummary, startDelay } = options;
  const { typedSearchAttributes, priority } = temporalOptions(starter, options, factsOf(paid, input));
  const { startLimit = DEFAULT_START_LIMIT_MS } = input;
  const limitMs = milliseconds(startLimit) ?? DEFAULT_START_LIMIT_MS;
  // 0 would mean "no limit" to the server.
  const limits = imageActivityOptions(Math.max(1_000, limitMs));
  const attach = (runId?: string) =>
    startedActivity<ImageOutcome>(client, client.activity.getHandle(id, runId), false);
  return {
    id,
    fingerprint: requestFingerprint(paid, input.account),
    start: async (idReusePolicy, idConflictPolicy) => {
      const handle = await client.activity.start(
        paid.operation === 'edit_image' ? ACTIVITY.editImage : ACTIVITY.generateImage,
        {
          ...limits,
          // Waits are attempts, and the start limit bounds them.
          retry: { ...limits.retry, maximumAttempts: Infinity },
          ...given({ priority, startDelay: milliseconds(startDelay), typedSearchAttributes }),
          // No summary by default: the server limits it to 400 bytes, which an encoded or stored one exceeds.
          ...given({ summary: staticSummary }),
          id,
          taskQueue: queues?.image ?? activityQueues(taskQueue).image,
          idReusePolicy,
          idConflictPolicy,
          // The server counts the start delay from the same time as the start limit.
          args: [{ ...input, startLimit: limitMs + (milliseconds(startDelay) ?? 0), creationKey: id }],
        },
      );
      return startedActivity(client, handle, true);
    },
    find: () => findActivity(client, id),
    attach,
  };
}

async function findWorkflow(client: Client, id: string): Promise<Execution | undefined> {
  const found = await describeWorkflow(client.workflow, id);
  if (found === undefined) return undefined;
  return { runId: found.runId, status: found.status.name, fingerprint: found.memo?.[FINGERPRINT_MEMO] };
}

async function findActivity(client: Client, id: string): Promise<Execution | undefined> {
  try {
    const found = await client.activity.getHandle(id).describe({ includeInput: true });
    const [sent] = (await found.getInput<unknown[]>().catch(otherwise(undefined))) ?? [];
    const { activityRunId: runId, status } = found;
    return { runId, status, fingerprint: fingerprintOf(found.activityType, sent) };
  } catch (error) {
    if (error instanceof ActivityNotFoundError) return undefined;
    throw error;
  }
}

/** Whether this exact request was started under the ID, whatever runs it. False if the server does not respond. */
export async function wasStarted(
  client: Client,
  paid: PaidRequest,
  { id, account }: { readonly id: string; readonly account?: string },
): Promise<boolean> {
  const finds = paid.operation === 'create_video' ? [findWorkflow] : [findWorkflow, findActivity];
  // Older servers do not know activities without a workflow.
  const found = await Promise.all(finds.map((find) => find(client, id).catch(otherwise(undefined))));
  return found.some((one) => one?.fingerprint === requestFingerprint(paid, account));
}

/** An activity without a workflow has no memo, so its fingerprint is computed from its input. */
function fingerprintOf(type: string, sent: unknown): string | undefined {
  if (!isObject(sent) || !isImageActivity(type)) return undefined;
  const { request, account } = sent as { readonly request?: unknown; readonly account?: string };
  if (!isObject(request)) return undefined;
  const operation = type === ACTIVITY.editImage ? 'edit_image' : 'generate_image';
  return requestFingerprint({ operation, request } as unknown as PaidRequest, account);
}

function factsOf(paid: PaidRequest, { account, labels }: Pick<PaidWorkflowOptions, 'account' | 'labels'>) {
  return { facts: { model: paid.request?.model, account: account ?? DEFAULT_CREDENTIAL }, labels };
}

/**
 * Starts a call, or attaches to the one with this ID. A closed call starts again only if it bought nothing or if the
 * journal decides.
 */
async function startOnce<Outcome extends VideoOutcome | ImageOutcome>(
  { client, taskQueue }: Starter,
  runner: Runner<Outcome>,
  input: { readonly account?: string; readonly again?: boolean },
): Promise<Started<Outcome>> {
  const start: Runner<Outcome>['start'] = (...policies) =>
    runner.start(...policies).catch(refuseUnregistered);
  // Try a plain start first, because nearly every ID is new.
  try {
    return await start('REJECT_DUPLICATE', 'FAIL');
  } catch (error) {
    if (!isAlreadyStarted(error)) throw error;
  }
  const before = await runner.find();
  const known = before === undefined || before.fingerprint === runner.fingerprint;
  if (!known && !(await leftRefused(runner, before))) throw new CreationKeyConflictError(runner.id);
  try {
    const again =
      !known ||
      (before !== undefined &&
        (await mayStartAgain(client, taskQueue, { runner, before, again: input.again === true })));
    const begun = await start(again ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE', 'USE_EXISTING');
    const after = await runner.find();
    if (after?.fingerprint !== runner.fingerprint) throw new CreationKeyConflictError(runner.id);
    return { ...begun, runId: after.runId, isNew: after.runId !== before?.runId };
  } catch (error) {
    if (!isAlreadyStarted(error)) throw error;
    return runner.attach();
  }
}

function isAlreadyStarted(error: unknown): boolean {
  return (
    error instanceof WorkflowExecutionAlreadyStartedError ||
    error instanceof ActivityExecutionAlreadyStartedError
  );
}

/** Whether the service accepted nothing from the call. If so, its ID can be reused for a corrected request. */
async function leftRefused<Outcome extends VideoOutcome | ImageOutcome>(
  runner: Runner<Outcome>,
  { status, runId }: Execution,
): Promise<boolean> {
  if (status !== 'COMPLETED') return false;
  const outcome: unknown = await runner.attach(runId).result();
  return isObject(outcome) && wasRefused(outcome as unknown as Outcome);
}

/** Whether a closed call may start again, because it bought nothing or because only the journal can decide. */
async function mayStartAgain<Outcome extends VideoOutcome | ImageOutcome>(
  client: Client,
  taskQueue: string,
  asked: { readonly runner: Runner<Outcome>; readonly before: Execution; readonly again: boolean },
): Promise<boolean> {
  const { status, runId } = asked.before;
  if (isOpen(status)) return false;
  if (status !== 'COMPLETED') return true;
  const outcome = await asked.runner.attach(runId).result();
  const again = startAgain(outcome, asked.again);
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
