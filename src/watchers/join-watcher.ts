import { type Client } from '@temporalio/client';
import { SIGNAL, WORKFLOW } from '../domain/names';
import { type JoinedWatch, type WatcherFacts } from '../domain/shared-watch';
import { STARTED_BY } from '../domain/version';

/** Videos that travel in one signal. */
export const MAX_JOINS = 500;

/** Joins videos to their watcher, and starts it where it does not run. Joining twice is the same as once. */
export async function joinWatcher(
  client: Client,
  { workflowId, taskQueue, input }: WatcherFacts,
  joins: readonly JoinedWatch[],
): Promise<void> {
  await client.workflow.signalWithStart(WORKFLOW.watchVideos, {
    workflowId,
    taskQueue,
    args: [input],
    signal: SIGNAL.watchJoin,
    signalArgs: [joins],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo: STARTED_BY,
    staticSummary: 'Polls the tasks of many videos',
    // A burst of starts must not keep it from its polls: a queue is otherwise served in order.
    priority: { priorityKey: 1 },
  });
}

/** Videos that join a watcher within this time, in milliseconds, travel in one signal; each takes a slot of the worker so long. */
const TOGETHER_MS = 500;

interface Collected {
  readonly joins: JoinedWatch[];
  readonly sent: Promise<void>;
}

/** Collects what joins a watcher, because each signal costs it a workflow task; the first poll is later than that. */
export class JoinedTogether {
  private readonly collecting = new Map<string, Collected>();

  constructor(private readonly togetherMs = TOGETHER_MS) {}

  /** Resolves when the server has the join. */
  join(client: Client, watcher: WatcherFacts, join: JoinedWatch): Promise<void> {
    const key = `${client.options.namespace}\n${watcher.workflowId}`;
    let open = this.collecting.get(key);
    if (open === undefined || open.joins.length >= MAX_JOINS) {
      const joins: JoinedWatch[] = [];
      open = { joins, sent: this.send(key, joins, () => joinWatcher(client, watcher, joins)) };
      this.collecting.set(key, open);
    }
    open.joins.push(join);
    return open.sent;
  }

  private async send(key: string, joins: readonly JoinedWatch[], send: () => Promise<void>): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.togetherMs));
    if (this.collecting.get(key)?.joins === joins) this.collecting.delete(key);
    await send();
  }
}
