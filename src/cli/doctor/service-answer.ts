import { type GetVideoResult } from '../../service/get-video-result';
import { networkCode, unsentCause } from '../../service/network-error';
import { type CommandErrorType } from '../error-types';
import { failed, type Finding, ok, warning } from './check';

/** What came of asking for a task that cannot exist. */
export interface ServiceAnswer {
  readonly result: GetVideoResult;
  /** Normalised base address. */
  readonly baseUrl: string;
  /** The error of the network, when there was one. */
  readonly cause: unknown;
}

/** Unknown tasks are answered like this (contract 7: a 400 on a task query; wire-facts). */
const NO_SUCH_TASK: ReadonlySet<number | undefined> = new Set([400, 404, 410, 422]);
const CERTIFICATE_REMEDY =
  'Name the certificate of your proxy or service in NODE_EXTRA_CA_CERTS, for the worker too.';
const LOOK_AGAIN = 'Try again later; the log of the service says more.';

/** Reachable and not refused, or why not. Total. */
export function judgeServiceAnswer(answer: ServiceAnswer): Finding {
  const { result, baseUrl } = answer;
  if (result.kind === 'record')
    return warning(`${baseUrl} knows a task that cannot exist.`, 'Check that MEDIA_BASE_URL is the service.');
  const { error, httpStatus: status } = result;
  if (error === 'late' || error === 'network' || status === undefined) return notReached(answer);
  if (status === 402)
    return failed(
      'service_credentials',
      `${baseUrl} answers HTTP 402: the account has no balance.`,
      'Top up the account of the key.',
    );
  if (error === 'credentials')
    return failed('service_credentials', `${baseUrl} refuses the key (HTTP ${status}).`);
  const page = result.taskError?.message ?? '';
  if (page.startsWith('An HTML page'))
    return failed('service_unexpected_reply', `${baseUrl} answers HTTP ${status} with a page: ${page}`);
  if (NO_SUCH_TASK.has(status)) return ok(`${baseUrl} answers, the key is not refused`);
  if (status >= 300 && status < 400) {
    const message = `${baseUrl} answers HTTP ${status}, a redirect; a create is never redirected.`;
    return failed('service_unexpected_reply', message, 'Set MEDIA_BASE_URL to the final address.');
  }
  if (status === 429) return warning(`${baseUrl} answers HTTP 429: too many requests for now.`, LOOK_AGAIN);
  if (status === 407)
    return failed('proxy', 'The proxy wants credentials (HTTP 407).', 'Put them into HTTPS_PROXY.');
  const message = `${baseUrl} answers HTTP ${status} when asked for a task that does not exist.`;
  return status > 500
    ? failed('service_unexpected_reply', message, LOOK_AGAIN)
    : warning(message, LOOK_AGAIN);
}

function notReached({ result, baseUrl, cause }: ServiceAnswer): Finding {
  const late = result.kind === 'error' && result.error === 'late';
  const code = networkCode(cause);
  const { cause: word } = unsentCause(cause);
  const type: CommandErrorType = word === 'proxy_refused' ? 'proxy' : 'service_unreachable';
  const remedy = word === 'certificate_not_trusted' ? CERTIFICATE_REMEDY : undefined;
  return failed(
    type,
    `${baseUrl} ${late ? 'does not answer in time' : (WORDS[word]?.(code) ?? broken(code))}.`,
    remedy,
  );
}

const broken = (code: string): string => `cannot be reached (${code})`;

const WORDS: { readonly [cause: string]: (code: string) => string } = {
  connection_refused: () => 'refuses the connection',
  host_not_found: () => 'has a host name that cannot be resolved',
  connect_timeout: () => 'does not accept the connection in time',
  proxy_refused: () => 'cannot be reached: the proxy opens no tunnel to it',
  tls_failed: (code) => `makes no secure connection (${code})`,
  certificate_not_trusted: (code) => `has a certificate that is not trusted (${code})`,
  connection_reset: (code) => `ends the connection without an answer (${code})`,
};
