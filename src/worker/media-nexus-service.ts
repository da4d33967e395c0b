import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import {
  operationInfo,
  type TemporalNexusClient,
  TemporalOperationHandler,
  TemporalOperationResult,
} from '@temporalio/nexus';
import { type WorkerOptions } from '@temporalio/worker';
import {
  HandlerError,
  OperationError,
  type OperationHandler,
  type ServiceHandler,
  serviceHandler,
} from 'nexus-rpc';
import { CampaignClient } from '../client/campaigns';
import {
  CampaignConflictError,
  CampaignInputError,
  CreationKeyConflictError,
  InvalidInputError,
} from '../client/errors';
import { type Starter } from '../client/options';
import { awaitVideoWorkflowId } from '../client/resume-video';
import { PAID_WORKFLOWS, startPaid } from '../client/start-paid';
import { type Started } from '../client/workflow-handle';
import { DEFAULT_CREDENTIAL, STARTED_BY, WORKFLOW } from '../domain/names';
import { type ImageOutcome, refusedBeforeSend, type Rejected, type VideoOutcome } from '../domain/outcome';
import { type PaidOperation, type PaidRequest } from '../domain/request';
import { isObject, shapeIssue } from '../domain/shape';
import { AWAIT_VIDEO_SHAPE } from '../domain/workflow-inputs';
import { mediaService } from '../nexus';
import { type MediaConfig } from '../settings/config';

/** Options of {@link mediaNexusService}. */
export interface MediaNexusOptions {
  /** The media workers' task queue. @default the queue on which the operation arrives */
  readonly taskQueue?: string;
  /** Whether to start workflows with search attributes, see `TemporalMediaClient`. @default false */
  readonly searchAttributes?: boolean;
}

/**
 * Creates the `media` Nexus service for a worker's `nexusServices`. Each operation starts its workflow the way a client
 * does. The same creation key attaches to the running workflow or returns the first outcome, and never buys twice. A
 * request that cannot be sent returns a `rejected` outcome.
 */
export function mediaNexusService(
  options: MediaNexusOptions = {},
): ServiceHandler<(typeof mediaService)['operations']> {
  const clientOptions: ClientOptions = () => ({
    taskQueue: options.taskQueue ?? operationInfo().taskQueue,
    searchAttributes: options.searchAttributes ?? false,
  });
  return serviceHandler(mediaService, {
    generateVideo: operation(clientOptions, (input) => paid<VideoOutcome>('create_video', input)),
    generateImage: operation(clientOptions, (input) => paid<ImageOutcome>('generate_image', input)),
    editImage: operation(clientOptions, (input) => paid<ImageOutcome>('edit_image', input)),
    awaitVideo: operation(clientOptions, (input) => {
      const issue = shapeIssue(input, AWAIT_VIDEO_SHAPE);
      if (issue !== undefined) throw badRequest(issue.message);
      const { video } = input;
      const account = 'account' in video ? video.account : (input.account ?? DEFAULT_CREDENTIAL);
      return { type: WORKFLOW.awaitVideo, id: awaitVideoWorkflowId(account, video.taskId), input };
    }),
    campaign: operation(clientOptions, (input) => {
      const { id, ...campaign } = input;
      if (!isText(id)) throw badRequest('A campaign needs an ID. Pass {id, manifest, ...}.');
      const start = ({ client, taskQueue, searchable }: Starter) =>
        new CampaignClient(client, taskQueue, { searchAttributes: searchable }).start(campaign, { id });
      return { type: WORKFLOW.runCampaign, id, input: campaign, start };
    }),
  });
}

/** Returns a worker's Nexus services: the user's, and the `media` service if the configuration enables it. */
export function nexusServicesOf(
  { nexus, searchAttributes }: Pick<MediaConfig, 'nexus' | 'searchAttributes'>,
  users: WorkerOptions['nexusServices'],
): Pick<WorkerOptions, 'nexusServices'> {
  if (!nexus || users?.some(({ definition }) => definition.name === mediaService.name)) return {};
  return { nexusServices: [...(users ?? []), mediaNexusService({ searchAttributes })] };
}

/** The client options for an operation. The queue is known only when an operation arrives. */
type ClientOptions = () => Required<MediaNexusOptions>;

/** The workflow behind an operation. */
interface Run<Outcome> {
  readonly type: string;
  readonly id: string;
  readonly input: object;
  /** Starts the workflow or attaches to it. @default attaches to an open workflow, or else starts a new run */
  readonly start?: (starter: Starter) => Promise<Started<Outcome>>;
  /**
   * Returns the outcome for a request that cannot be sent, or undefined for other errors. @default throws every error
   */
  readonly rejected?: (error: unknown) => Outcome | undefined;
}

/** An outcome that is known without a workflow. */
interface Known<Outcome> {
  readonly known: Outcome;
}

/**
 * Describes the run for a paid call. The creation key is used as the workflow ID. An image call is a workflow here,
 * because the operation ends with it, and it is the operation's kind of call, whatever its request contains.
 */
function paid<Outcome extends VideoOutcome | ImageOutcome>(
  operation: PaidOperation,
  input: { readonly creationKey: string; readonly request: unknown },
): Run<Outcome | Rejected> | Known<Rejected> {
  const { creationKey: id, ...call } = input;
  if (!isText(id)) return { known: refusedBeforeSend('creation_key_required', KEY_REQUIRED, 'creationKey') };
  const request = { operation, request: input.request } as PaidRequest;
  return {
    type: PAID_WORKFLOWS[operation],
    id,
    input,
    start: (starter) => startPaid<Outcome>(starter, request, call, { id }),
    rejected: rejectedBy,
  };
}

const KEY_REQUIRED =
  'A paid operation needs a permanent creationKey such as an order number. The same key never buys twice. Nothing was sent.';

/** Creates an operation that ends with its workflow, or immediately if the outcome is already known. */
function operation<Input, Outcome>(
  clientOptions: ClientOptions,
  runOf: (input: Input) => Run<Outcome> | Known<Outcome>,
): OperationHandler<Input, Outcome> {
  return new TemporalOperationHandler<Input, Outcome>({
    start: async (_context, nexus, input) => {
      try {
        if (!isObject(input)) throw badRequest('The input must be an object.');
        const run = runOf(input);
        if ('known' in run) return TemporalOperationResult.sync(run.known);
        return await startRun(nexus, clientOptions(), run);
      } catch (error) {
        throw handlerErrorOf(error);
      }
    },
  });
}

async function startRun<Outcome>(
  nexus: TemporalNexusClient,
  client: ReturnType<ClientOptions>,
  run: Run<Outcome>,
): Promise<TemporalOperationResult<Outcome>> {
  const options = { taskQueue: client.taskQueue, workflowId: run.id, args: [run.input], memo: STARTED_BY };
  if (run.start === undefined)
    return nexus.startWorkflow<Workflow<Outcome>>(run.type, { ...options, ...ATTACH });
  const calls = new StartedByOperation<Outcome>(nexus);
  let started: Started<Outcome>;
  try {
    const { taskQueue, searchAttributes } = client;
    started = await run.start({ client: calls.client(), taskQueue, searchable: searchAttributes });
  } catch (error) {
    const rejected = run.rejected?.(error);
    if (rejected === undefined) throw error;
    return TemporalOperationResult.sync(rejected);
  }
  if (calls.started !== undefined) return calls.started;
  // If the workflow is open, attach this caller to it. If it is closed, return its result.
  try {
    const attached = { ...options, ...ATTACH, workflowIdReusePolicy: 'REJECT_DUPLICATE' as const };
    return await nexus.startWorkflow<Workflow<Outcome>>(run.type, attached);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return TemporalOperationResult.sync(await started.result());
  }
}

type Workflow<Outcome> = (...args: readonly unknown[]) => Promise<Outcome>;

const ATTACH = { workflowIdConflictPolicy: 'USE_EXISTING' } as const;

/** A client for one operation. When a workflow that it started ends, Temporal notifies the operation's caller. */
class StartedByOperation<Outcome> {
  started: TemporalOperationResult<Outcome> | undefined;

  constructor(private readonly nexus: TemporalNexusClient) {}

  client(): Client {
    const { client } = this.nexus;
    const start: Client['workflow']['start'] = async (type, options) => {
      this.started = await this.nexus.startWorkflow<Workflow<Outcome>>(type as string, options);
      return client.workflow.getHandle(options.workflowId) as never;
    };
    const workflow = Object.create(client.workflow, { start: { value: start } }) as Client['workflow'];
    return Object.create(client, { workflow: { value: workflow } }) as Client;
  }
}

/** Returns the outcome for a request that cannot be sent, or undefined for other errors. */
function rejectedBy(error: unknown): Rejected | undefined {
  if (error instanceof CreationKeyConflictError)
    return refusedBeforeSend('creation_key_conflict', error.message, 'creationKey');
  if (error instanceof InvalidInputError)
    return refusedBeforeSend('invalid_request', error.message, error.field);
  return undefined;
}

/** Converts errors that a retry cannot fix. Temporal retries all others. */
function handlerErrorOf(error: unknown): unknown {
  if (error instanceof CampaignConflictError || error instanceof CampaignInputError)
    return badRequest(error.message);
  if (error instanceof WorkflowFailedError)
    return new OperationError('failed', error.message, { cause: error.cause });
  return error;
}

function badRequest(message: string): HandlerError {
  return new HandlerError('BAD_REQUEST', message);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
