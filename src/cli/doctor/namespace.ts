import { isGrpcNotFound } from '../grpc-not-found';
import { type Check, failed, ok } from './check';
import { isRefusal } from './temporal-server';

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
      if (isGrpcNotFound(error))
        return failed('namespace_not_found', `The Temporal server has no namespace "${namespace}".`);
      if (isRefusal(error))
        return failed('temporal_credentials', `The Temporal server refuses the namespace "${namespace}".`);
      throw error;
    }
  },
};

function daysOf(seconds: number): string {
  const days = Number((seconds / SECONDS_OF_A_DAY).toFixed(2));
  return days === 1 ? '1 day' : `${days} days`;
}
