import { type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { type Searched, searched } from '../../support/canary';

/** A text in a history or a description, with the place where it stands. */
interface Place {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Every text and every payload of a message of the server, decoded, with its path. */
function* placesIn(value: unknown, path: string): Generator<Place> {
  if (typeof value === 'string') yield { path, bytes: Buffer.from(value) };
  else if (value instanceof Uint8Array) yield { path, bytes: Buffer.from(value) };
  else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) {
      yield { path, bytes: Buffer.from(name) };
      yield* placesIn(inner, `${path}.${name}`);
    }
}

/** Where architecture: Stores lets a prompt be: inputs of workflows and of paid calls. */
const INPUT =
  /^(?:workflowExecutionStarted|startChildWorkflowExecutionInitiated|workflowExecutionContinuedAsNew)EventAttributes\.input\./;
const PAID_INPUT = /^activityTaskScheduledEventAttributes\.input\./;
const PAID = /^media\.(?:createVideo|reconcileCreate|generateImage|editImage)$/;
/** And the error text of the service, in a result. */
const RESULT =
  /^(?:activityTaskCompleted|workflowExecutionCompleted|childWorkflowExecutionCompleted)EventAttributes\.result\./;

export interface HistoryTexts {
  readonly closed: Searched[];
  /** Listed places: a prompt may be there, nothing else. */
  readonly inputs: Searched[];
  /** Results, and what of them may hold a prompt: the service's error text. */
  readonly errorTexts: Searched[];
  readonly events: number;
}

/** All events of all workflows of a queue, payloads decoded. */
export async function historyTexts(
  client: Client,
  workflows: readonly WorkflowExecutionInfo[],
): Promise<HistoryTexts> {
  const texts: HistoryTexts & { events: number } = { closed: [], inputs: [], errorTexts: [], events: 0 };
  for (const { workflowId, runId } of workflows) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const event of history.events ?? []) {
      texts.events += 1;
      const activity = event.activityTaskScheduledEventAttributes?.activityType?.name ?? '';
      for (const { path, bytes } of placesIn(event, '')) {
        const place = path.slice(1);
        const where = `${workflowId} ${place}`;
        if (INPUT.test(place) || (PAID_INPUT.test(place) && PAID.test(activity)))
          texts.inputs.push({ where, bytes });
        else if (RESULT.test(place)) splitResult(texts, where, bytes);
        else texts.closed.push({ where, bytes });
      }
    }
  }
  return texts;
}

function splitResult(texts: HistoryTexts, where: string, bytes: Buffer): void {
  const { rest, message } = withoutErrorText(bytes.toString('utf8'));
  texts.closed.push(searched(where, rest));
  if (message !== '') texts.errorTexts.push(searched(where, message));
}

/** A JSON text of an outcome without `error.message`, and that message: the one text that may echo a prompt. */
export function withoutErrorText(json: string): { rest: string; message: string } {
  const messages: string[] = [];
  let value: unknown;
  try {
    value = JSON.parse(json, (name, inner: unknown) => {
      const text = name === 'error' && isError(inner) ? inner.message : undefined;
      if (typeof text !== 'string') return inner;
      messages.push(text);
      return { ...(inner as object), message: null };
    });
  } catch {
    return { rest: json, message: '' };
  }
  return { rest: JSON.stringify(value) ?? '', message: messages.join('\n') };
}

const isError = (value: unknown): value is { message: unknown } =>
  typeof value === 'object' && value !== null && 'message' in value;

/** What the server tells of executions: memo, attributes, summaries, pending activities with heartbeats and failures. */
export async function descriptions(
  client: Client,
  workflows: readonly WorkflowExecutionInfo[],
): Promise<Searched[]> {
  const found: Searched[] = [];
  for (const { workflowId, runId } of workflows) {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    for (const { path, bytes } of placesIn(raw, '')) found.push({ where: `${workflowId} ${path}`, bytes });
  }
  return found;
}
