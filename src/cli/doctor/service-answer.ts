import { type GetVideoResult } from '../../service/get-video-result';
import { networkCode, unsentCause } from '../../service/network-error';
import { type CommandErrorType } from '../error-types';
import { failed, type Finding, ok, warning } from './check';
import { spokenOf, type Subject } from './spoken-of';

/** What came of asking for a task that cannot exist. */
export interface ServiceAnswer {
  readonly result: GetVideoResult;
  /** Normalised base address. */
  readonly baseUrl: string;
  /** The error of the network, when there was one. */
  readonly cause: unknown;
}

/** Unknown tasks are answered like this (contract 7: a 400 on a task query; test/fixtures/wire). */
const NO_SUCH_TASK: ReadonlySet<number | undefined> = new Set([400, 404, 410, 422]);
const CERTIFICATE_REMEDY =
  'Name the certificate of your proxy or service in NODE_EXTRA_CA_CERTS, for the worker too.';
const PATH_REMEDY =
  'Set MEDIA_BASE_URL to all that stands before /v1/videos in the addresses of the service.';
const MODEL_REMEDY =
  'No model was asked for: the account may lack one, or MEDIA_BASE_URL is the address of another interface.';
const KEY_UNPROVED =
  'This proves neither key nor path: compare MEDIA_API_KEY and MEDIA_BASE_URL with those of the service before the first paid call.';
const PATH_UNPROVED =
  'The path may be wrong: MEDIA_BASE_URL is all that stands before /v1/videos in the addresses of the service.';
/** Longest text of the service that is repeated, in characters. */
const MOST_SAID = 200;
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
  const said = reasonOf(result);
  const page = result.taskError?.message ?? '';
  if (error !== 'credentials' && page.startsWith('An HTML page'))
    return failed('service_unexpected_reply', `${baseUrl} answers HTTP ${status} with a page: ${page}`);
  const subject = result.taskError === undefined ? undefined : spokenOf(result.taskError);
  if (error === 'credentials')
    return failed('service_credentials', `${baseUrl} refuses the key (HTTP ${status}).${said}`);
  if (subject === 'model')
    return warning(`${baseUrl} answers HTTP ${status} and speaks of the model.${said}`, MODEL_REMEDY);
  if (subject === 'key')
    return failed('service_credentials', `${baseUrl} answers HTTP ${status} and speaks of the key.${said}`);
  if (subject === 'path')
    return failed(
      'service_unexpected_reply',
      `${baseUrl} answers HTTP ${status} and speaks of the path.${said}`,
      PATH_REMEDY,
    );
  if (NO_SUCH_TASK.has(status)) return judgeUnknownTask(answer, status, subject);
  if (status >= 300 && status < 400) {
    const message = `${baseUrl} answers HTTP ${status}, a redirect; a create is never redirected.`;
    return failed('service_unexpected_reply', message, 'Set MEDIA_BASE_URL to the final address.');
  }
  if (status === 429) return warning(`${baseUrl} answers HTTP 429: too many requests for now.`, LOOK_AGAIN);
  if (status === 407)
    return failed('proxy', 'The proxy wants credentials (HTTP 407).', 'Put them into HTTPS_PROXY.');
  const message = `${baseUrl} answers HTTP ${status} when asked for a task that does not exist.${said}`;
  return status > 500
    ? failed('service_unexpected_reply', message, LOOK_AGAIN)
    : warning(message, LOOK_AGAIN);
}

/** The answer to expect; where it names no task, path or key may be what is wrong. */
function judgeUnknownTask(
  { result, baseUrl }: ServiceAnswer,
  status: number,
  subject: Subject | undefined,
): Finding {
  if (subject === 'task') return ok(`${baseUrl} answers, and knows no task that does not exist`);
  const message = `${baseUrl} answers HTTP ${status} when asked for a task that does not exist, and does not say what it misses.${reasonOf(result)}`;
  return status === 400 || status === 422 ? warning(message, KEY_UNPROVED) : warning(message, PATH_UNPROVED);
}

/** Its words are cleaned of keys and signed addresses; long ones are cut. */
function reasonOf(result: GetVideoResult): string {
  const { code = null, message = null } = (result.kind === 'error' && result.taskError) || {};
  const words = message ?? code;
  if (words === null) return '';
  return ` It says: ${JSON.stringify(words.length > MOST_SAID ? `${words.slice(0, MOST_SAID)}…` : words)}.`;
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
