import { Connection } from '@temporalio/client';
import { errorType } from '../error-types';
import { lackingIn, OLDEST_SERVER } from '../../temporal-server-version';
import { type Check, failed, type Finding, ok, warning } from './check';
import { isOlder } from '../../older-version';

const CONNECT_MS = 4_000;
/** gRPC PERMISSION_DENIED and UNAUTHENTICATED. */
const REFUSED: ReadonlySet<unknown> = new Set([7, 16]);

/** Whether the server answers that commands and workers would use, and which version it is. */
export const temporalServer: Check = {
  name: 'temporal',
  title: 'Temporal server',
  after: [],
  limitMs: CONNECT_MS + 1_000,
  late: 'temporal_unreachable',
  run: async ({ target, session, env }) => {
    if ('problem' in target) throw target.problem;
    const { address, foundBy } = target;
    const where = `${address} (from ${foundBy})`;
    let connection: Connection;
    try {
      connection = await Connection.connect({
        ...target.connection,
        address,
        connectTimeout: CONNECT_MS,
      });
    } catch (error) {
      return isRefusal(error)
        ? failed('temporal_credentials', `The Temporal server at ${where} refuses access.`)
        : failed('temporal_unreachable', `No Temporal server answers at ${where}.`, remedy(env));
    }
    session.connection = connection;
    const { serverVersion } = await connection.withDeadline(Date.now() + CONNECT_MS, () =>
      connection.workflowService.getSystemInfo({}),
    );
    return judgeServerVersion(serverVersion, where);
  },
};

export function judgeServerVersion(version: string | null | undefined, where: string): Finding {
  if (!version) return ok(`answers at ${where}; it does not tell its version`);
  const lacks = lackingIn(version);
  if (lacks.length === 0) return ok(`${version} at ${where}`);
  return warning(
    `${version} at ${where} lacks ${lacks.join('; ')}.`,
    isOlder(version, OLDEST_SERVER)
      ? `Use a server of version ${OLDEST_SERVER} or later.`
      : 'Use a later server where you need them; videos and images need none of them.',
  );
}

/** Whether the server answered and said no, as opposed to not answering. */
export function isRefusal(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return REFUSED.has(code) || REFUSED.has(cause?.code);
}

/** gRPC reads these in lower case only, and goes through them to every host that no_proxy does not name. */
function remedy(env: NodeJS.ProcessEnv): string {
  const hint = errorType('temporal_unreachable').hint;
  const proxy = ['grpc_proxy', 'https_proxy', 'http_proxy'].find((name) => env[name]);
  return proxy === undefined ? hint : `${hint} Or name its host in no_proxy: ${proxy} is set.`;
}
