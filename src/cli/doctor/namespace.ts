import { isGrpcNotFound } from '../grpc-not-found';
import { type Check, failed, type Finding, ok } from './check';
import { isRefusal } from './temporal-server';

/** gRPC codes: cancelled by a deadline of ours, DEADLINE_EXCEEDED, UNAVAILABLE. */
const NO_ANSWER: ReadonlySet<unknown> = new Set([1, 4, 14]);

const CALL_MS = 3_000;
const SECONDS_OF_A_DAY = 86_400;

/** Whether the server has the namespace and lets this client look at it. */
export const namespaceCheck: Check = {
  name: 'namespace',
  title: 'Namespace',
  after: ['temporal'],
  limitMs: CALL_MS + 500,
  late: 'temporal_unreachable',
  run: async ({ target, session: { connection } }) => {
    if ('problem' in target || connection === undefined) throw new Error('There is no connection.');
    const { namespace } = target;
    try {
      const { config } = await connection.withDeadline(Date.now() + CALL_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      const seconds = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
      return ok(seconds === 0 ? namespace : `${namespace}; closed workflows are kept for ${daysOf(seconds)}`);
    } catch (error) {
      const finding = judgeLookUp(error, namespace);
      if (finding === undefined) throw error;
      return finding;
    }
  },
};

/** Why the namespace could not be looked up, by a server that has just told its version; undefined when nobody knows. */
export function judgeLookUp(error: unknown, namespace: string): Finding | undefined {
  if (isGrpcNotFound(error))
    return failed('namespace_not_found', `The Temporal server has no namespace "${namespace}".`);
  if (isRefusal(error))
    return failed('temporal_credentials', `The Temporal server refuses the namespace "${namespace}".`);
  // What it says of itself comes from memory; a namespace comes from its database.
  if (NO_ANSWER.has((error as { code?: unknown }).code))
    return failed(
      'temporal_unreachable',
      `The Temporal server answers, but cannot look up the namespace "${namespace}": its database may be down.`,
      'Look at the log of the Temporal server and at its database; the settings of this machine are not the cause. What runs goes on when it is back.',
    );
  return undefined;
}

function daysOf(seconds: number): string {
  const days = Number((seconds / SECONDS_OF_A_DAY).toFixed(2));
  return days === 1 ? '1 day' : `${days} days`;
}
