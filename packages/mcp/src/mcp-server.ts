import { randomUUID } from 'node:crypto';
import { type TaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/interfaces.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { type CallToolResult, type RequestId, type Task } from '@modelcontextprotocol/sdk/types.js';
import { CliError } from '@temporal-media/cli/internal/shared/errors';
import { given } from 'temporal-media/internal/domain/json';
import { PACKAGE_VERSION } from 'temporal-media/internal/domain/names';
import { z } from 'zod';
import { attempt, type ConfirmCost, type AgentCalls, type ToolCall } from './agent-calls';

/** How long a person may think about a cost, in milliseconds. */
const CONFIRM_MS = 10 * 60_000;

const REMEDY =
  "Choose a cheaper request, or have the operator raise this server's --max-spend (MEDIA_MAX_SPEND).";

const INSTRUCTIONS =
  'Videos and images cost money. Price a request first. Create with an id that you keep: the same id never buys twice, so repeating a create is safe. Never repeat it under another id.';

const id = z.string().describe('Your id for this purchase, such as an order number. It never buys twice.');

const common = {
  model: z.string().describe('Public model id'),
  prompt: z.string(),
  account: z.string().optional().describe("Name of the worker's credential"),
  fields: z.record(z.string(), z.json()).optional().describe('Model-specific fields, sent unchanged'),
};

// Only addresses: a client must not be able to send files of this machine to the service.
const reference = z.strictObject({
  kind: z.enum(['image', 'video', 'audio']),
  source: z.strictObject({ url: z.string() }),
});

const FIELDS = {
  video: {
    ...common,
    durationSeconds: z.number().optional(),
    resolution: z.string().optional().describe('For example 720p'),
    aspectRatio: z.string().optional().describe('For example 16:9'),
    references: z.array(reference).optional(),
  },
  image: {
    ...common,
    size: z.string().optional().describe('For example 1024x1024'),
    quality: z.string().optional(),
    n: z.number().optional().describe('Number of images; each is charged'),
  },
} as const;

const READ_TOOLS = {
  status: 'Shows where a video or image stands, and what is safe to do. Buys nothing.',
  fetch: 'Saves the files of a completed video or image, and returns their paths. Buys nothing.',
};

/** Creates an MCP server for one client, with tools to price, create, look at and fetch videos and images. */
export function createMcpServer(calls: AgentCalls): McpServer {
  const taskStore = new WorkflowTasks(calls);
  const capabilities = { tasks: { requests: { tools: { call: {} } } } };
  const server = new McpServer(
    { name: 'temporal-media', version: PACKAGE_VERSION },
    { capabilities, taskStore, instructions: INSTRUCTIONS },
  );
  for (const kind of ['video', 'image'] as const) addPaidTools(server, calls, kind);
  for (const [name, description] of Object.entries(READ_TOOLS))
    server.registerTool(
      name,
      { description, inputSchema: z.strictObject({ id }), annotations: { readOnlyHint: name === 'status' } },
      async (input) => attempt(() => calls.status(input.id, name === 'fetch')),
    );
  return server;
}

function addPaidTools(server: McpServer, calls: AgentCalls, kind: keyof typeof FIELDS): void {
  const fields: typeof common = FIELDS[kind];
  const operation = kind === 'video' ? 'create_video' : 'generate_image';
  const callOf = ({ account, ...request }: { readonly account?: string }): ToolCall =>
    ({ paid: { operation, request: given(request) }, account }) as ToolCall;
  // Strict, because a misspelled field would otherwise be dropped, and something else would be bought.
  server.registerTool(
    `price_${kind}`,
    {
      description: `Checks a request for this ${kind} and estimates its cost. Buys nothing.`,
      inputSchema: z.strictObject(fields),
      annotations: { readOnlyHint: true },
    },
    async (input) => attempt(() => calls.price(callOf(given(input)))),
  );
  server.experimental.tasks.registerToolTask(
    `create_${kind}`,
    {
      description: `Buys this ${kind}, once for an id, and returns at once. Follow it as a task, or with status and fetch.`,
      inputSchema: z.strictObject({ id, ...fields }),
      annotations: { destructiveHint: false, idempotentHint: true },
      execution: { taskSupport: 'optional' },
    },
    {
      createTask: async (input, { taskStore, requestId, signal }) => {
        const { id: purchase, ...request } = input as { readonly id: string };
        const toolCall = callOf(request);
        const question = questionOf(purchase, toolCall);
        const confirm = confirmBy(server, question, { relatedRequestId: requestId, signal });
        const refusal = await attempt(() => calls.create(purchase, toolCall, confirm));
        return { task: await taskStore.createTask({ context: { refusal } }) };
      },
      getTask: (_input, { taskStore, taskId }) => taskStore.getTask(taskId),
      getTaskResult: (_input, { taskId }) => attempt(() => calls.status(taskId, true)),
    },
  );
}

/** Shows what a person would buy. The prompt is not shown, and the agent's words are quoted. */
function questionOf(
  purchase: string,
  { paid: { operation, request }, account = 'default' }: ToolCall,
): string {
  const { model, n = 1 } = request as { readonly model: string; readonly n?: number };
  const files = operation === 'generate_image' ? `, n ${n}` : '';
  return `Buy ${JSON.stringify(purchase)}: ${operation}, model ${JSON.stringify(model)}${files}, account ${JSON.stringify(account)}?`;
}

/** Asks the client's person. Without elicitation, nobody can accept the cost here. */
function confirmBy(
  { server }: McpServer,
  question: string,
  options: { readonly relatedRequestId: RequestId; readonly signal: AbortSignal },
): ConfirmCost {
  return async (reason) => {
    const refuse = (why: string): CliError =>
      new CliError('spend_not_confirmed', `${reason} ${why} Nothing was sent.`, { hint: REMEDY });
    if (server.getClientCapabilities()?.elicitation?.form === undefined)
      throw refuse('This client cannot ask a person, because it does not support MCP elicitation.');
    const { action } = await server.elicitInput(
      { message: `${reason} ${question}`, requestedSchema: { type: 'object', properties: {} } },
      { ...options, timeout: CONFIRM_MS },
    );
    if (action !== 'accept') throw refuse(`It was not confirmed (${action}).`);
  };
}

/** Milliseconds that a client should wait between two checks of a task. */
const POLL_INTERVAL_MS = 2_000;
/** Refused calls that a session remembers. */
const MOST_REFUSALS = 100;

/**
 * MCP tasks that are Temporal workflows: a task's id is the call's id, so that a task survives the server's restart. For a
 * client that does not use tasks, the task is done at once, and its result is where the call stands.
 */
class WorkflowTasks implements TaskStore {
  private readonly refusals = new Map<string, CallToolResult>();

  constructor(private readonly calls: AgentCalls) {}

  /** @param options its context may contain a `refusal`, the result of a call that was not started */
  createTask: TaskStore['createTask'] = (options, _requestId, { params }) => {
    const refusal = options.context?.['refusal'] as CallToolResult | undefined;
    const given = params as { readonly task?: object; readonly arguments: { readonly id: string } };
    if (refusal === undefined)
      return Promise.resolve(task(given.arguments.id, given.task === undefined ? 'completed' : 'working'));
    const taskId = `refused/${randomUUID()}`;
    if (this.refusals.size === MOST_REFUSALS) this.refusals.clear();
    this.refusals.set(taskId, refusal);
    return Promise.resolve(task(taskId, 'failed', refusal));
  };

  getTask: TaskStore['getTask'] = async (taskId) => {
    const refusal = this.refusals.get(taskId);
    if (refusal !== undefined) return task(taskId, 'failed', refusal);
    if (await this.calls.isRunning(taskId)) return task(taskId, 'working');
    const found = await this.calls.status(taskId);
    // A later wait for the same video may be running.
    if (found.state === 'running') return task(taskId, 'working');
    return found.state === 'completed' ? task(taskId, 'completed') : task(taskId, 'failed', found);
  };

  getTaskResult = async (taskId: string): Promise<CallToolResult> =>
    this.refusals.get(taskId) ?? attempt(() => this.calls.status(taskId, true));

  listTasks: TaskStore['listTasks'] = () => Promise.resolve({ tasks: [] });
  storeTaskResult: TaskStore['storeTaskResult'] = () => Promise.resolve();
  updateTaskStatus: TaskStore['updateTaskStatus'] = () =>
    Promise.reject(new Error('A paid call cannot be canceled. It continues, and its files can be fetched.'));
}

function task(taskId: string, status: Task['status'], why?: CallToolResult): Task {
  const now = new Date().toISOString();
  const [text] = why?.content ?? [];
  const statusMessage = text?.type === 'text' ? { statusMessage: text.text } : {};
  const times = { ttl: null, createdAt: now, lastUpdatedAt: now, pollInterval: POLL_INTERVAL_MS };
  return { taskId, status, ...times, ...statusMessage };
}
