import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { type TaskError } from 'temporal-media';
import {
  type ConnectionFactory,
  createMediaClient,
  type MediaClient,
  type ModelSource,
} from 'temporal-media/activities';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { networkCode, unsentCause } from 'temporal-media/internal/service/classify-reply';
import { environmentConnections } from 'temporal-media/internal/service/connections';
import { keySecrets } from 'temporal-media/internal/service/endpoint';
import { proxyFor } from 'temporal-media/internal/service/proxy-environment';
import { createModelSource } from 'temporal-media/internal/settings/model-source';
import { type MediaConfig } from 'temporal-media/worker';
import { type Dispatcher } from 'undici';
import { type CommandErrorType } from '../shared/exit-codes';
import {
  type AccountFacts,
  type DoctorCheck,
  failedCheck,
  type Finding,
  ok,
  warning,
  type AccountsFinding,
  skipped,
} from './check';

type GetVideoResult = Awaited<ReturnType<MediaClient['getVideo']>>;

/** The service's answer to a query for a task that cannot exist. */
interface ServiceAnswer {
  readonly result: GetVideoResult;
  /** Normalized base address. */
  readonly baseUrl: string;
  /** The network error, if any. */
  readonly cause: unknown;
}

/** HTTP statuses for an unknown task (contract 7: a 400 on a task query; test/fixtures/wire). */
const NO_SUCH_TASK: ReadonlySet<number | undefined> = new Set([400, 404, 410, 422]);
const CERTIFICATE_REMEDY =
  'Set NODE_EXTRA_CA_CERTS to the CA certificate of your proxy or service, here and on the worker.';
const PATH_REMEDY = "Set MEDIA_BASE_URL to the part of the service's URLs before /v1/videos.";
const MODEL_REMEDY =
  'The request did not name a model. The account may have no model, or MEDIA_BASE_URL may be the URL of a different API.';
const KEY_UNPROVED =
  'This does not prove that key and path are correct. Check MEDIA_API_KEY and MEDIA_BASE_URL before the first paid call.';
const PATH_UNPROVED =
  "The path may be wrong: MEDIA_BASE_URL must be the part of the service's URLs before /v1/videos.";
/** Maximum number of characters to quote from the service's message. */
const MOST_SAID = 200;
const TRY_AGAIN_LATER = "Try again later. The service's log may say more.";

/** Determines whether the service is reachable and accepts the key. */
export function checkServiceAnswer(answer: ServiceAnswer): Finding {
  const { result, baseUrl } = answer;
  if (result.kind === 'record')
    return warning(
      `${baseUrl} returns a task that cannot exist.`,
      'Check that MEDIA_BASE_URL is the URL of the service.',
    );
  const { error, httpStatus: status } = result;
  if (error === 'late' || error === 'network' || status === undefined) return notReached(answer);
  if (status === 402)
    return failedCheck(
      'service_credentials',
      `${baseUrl} returned HTTP 402: the account has no balance.`,
      "Top up the key's account.",
    );
  const said = reasonOf(result);
  const page = result.taskError?.message ?? '';
  if (error !== 'credentials' && page.startsWith('An HTML page'))
    return failedCheck(
      'service_unexpected_reply',
      `${baseUrl} returned HTTP ${status} with a web page: ${page}`,
    );
  const subject = result.taskError === undefined ? undefined : spokenOf(result.taskError);
  if (error === 'credentials')
    return failedCheck('service_credentials', `${baseUrl} rejected the key (HTTP ${status}).${said}`);
  if (subject === 'model')
    return warning(`${baseUrl} returned HTTP ${status} with an error about the model.${said}`, MODEL_REMEDY);
  if (subject === 'key')
    return failedCheck(
      'service_credentials',
      `${baseUrl} returned HTTP ${status} with an error about the key.${said}`,
    );
  if (subject === 'path')
    return failedCheck(
      'service_unexpected_reply',
      `${baseUrl} returned HTTP ${status} with an error about the path.${said}`,
      PATH_REMEDY,
    );
  if (NO_SUCH_TASK.has(status)) return checkUnknownTask(answer, status, subject);
  if (status >= 300 && status < 400) {
    const message = `${baseUrl} returned HTTP ${status}, a redirect. Creates never follow redirects.`;
    return failedCheck('service_unexpected_reply', message, 'Set MEDIA_BASE_URL to the final URL.');
  }
  if (status === 429) return warning(`${baseUrl} returned HTTP 429: too many requests.`, TRY_AGAIN_LATER);
  if (status === 407)
    return failedCheck('proxy', 'The proxy requires credentials (HTTP 407).', 'Add them to HTTPS_PROXY.');
  const message = `${baseUrl} returned HTTP ${status} for a task that does not exist.${said}`;
  return status > 500
    ? failedCheck('service_unexpected_reply', message, TRY_AGAIN_LATER)
    : warning(message, TRY_AGAIN_LATER);
}

/** Judges a reply with the expected status. If the reply does not mention a task, the path or key may be wrong. */
function checkUnknownTask(
  { result, baseUrl }: ServiceAnswer,
  status: number,
  subject: Subject | undefined,
): Finding {
  if (subject === 'task') return ok(`${baseUrl} responds and correctly rejects an unknown task id`);
  const message = `${baseUrl} returned HTTP ${status} for a task that does not exist, but did not mention a task.${reasonOf(result)}`;
  return status === 400 || status === 422 ? warning(message, KEY_UNPROVED) : warning(message, PATH_UNPROVED);
}

/** Returns the service's message, truncated if long. Keys and signed URLs have already been redacted. */
function reasonOf(result: GetVideoResult): string {
  const { code = null, message = null } = (result.kind === 'error' && result.taskError) || {};
  const words = message ?? code;
  if (words === null) return '';
  return ` Its message: ${JSON.stringify(words.length > MOST_SAID ? `${words.slice(0, MOST_SAID)}…` : words)}.`;
}

function notReached({ result, baseUrl, cause }: ServiceAnswer): Finding {
  const late = result.kind === 'error' && result.error === 'late';
  const code = networkCode(cause);
  const { cause: word } = unsentCause(cause);
  const type: CommandErrorType = word === 'proxy_refused' ? 'proxy' : 'service_unreachable';
  const remedy = word === 'certificate_not_trusted' ? CERTIFICATE_REMEDY : undefined;
  return failedCheck(
    type,
    `${baseUrl} ${late ? 'did not respond in time' : (WORDS[word]?.(code) ?? broken(code))}.`,
    remedy,
  );
}

const broken = (code: string): string => `cannot be reached (${code})`;

const WORDS: { readonly [cause: string]: (code: string) => string } = {
  connection_refused: () => 'refused the connection',
  host_not_found: () => 'has a host name that cannot be resolved',
  connect_timeout: () => 'did not accept the connection in time',
  proxy_refused: () => 'cannot be reached: the proxy did not open a tunnel to it',
  tls_failed: (code) => `failed the TLS handshake (${code})`,
  certificate_not_trusted: (code) => `has an untrusted certificate (${code})`,
  connection_reset: (code) => `closed the connection without responding (${code})`,
};

const ANSWER_MS = 7_000;

/**
 * Queries a task that cannot exist, with the worker's key. The GET costs nothing and creates nothing (contract 1).
 */
export const service: DoctorCheck = {
  name: 'service',
  title: 'Service',
  after: ['proxy'],
  workerSide: true,
  limitMs: ANSWER_MS + 1_000,
  late: 'service_unreachable',
  run: async ({ accounts, env }) => {
    const secrets = accounts.flatMap(({ config }) => keySecrets(config.apiKey()));
    return eachAccount(accounts, (account) => askService(account, secrets, env));
  },
};

async function askService(
  { baseUrl, config }: AccountFacts,
  secrets: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Finding> {
  let cause: unknown;
  const client = createMediaClient({
    baseUrl,
    apiKey: config.apiKey,
    otherSecrets: () => secrets,
    connections: { poll: 1 },
    connectionFactory: watchedConnections(environmentConnections(env), (error) => (cause = error)),
  });
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const result = await client.getVideo(`doctor-${randomUUID()}`, { signal });
    return checkServiceAnswer({ result, baseUrl, cause });
  } finally {
    await client.close();
  }
}

/** Reports every request error on these connections, because the client's result does not contain the cause. */
function watchedConnections(
  connections: ConnectionFactory,
  onError: (error: unknown) => void,
): ConnectionFactory {
  return (origin, settings) => {
    const { dispatcher, viaProxy } = connections(origin, settings);
    const watched = dispatcher.compose(
      (dispatch) => (options, handler) => dispatch(options, watching(handler, onError)),
    );
    return { dispatcher: watched, viaProxy };
  };
}

function watching(
  handler: Dispatcher.DispatchHandler,
  onError: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  return new Proxy(handler, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (name === 'onResponseError') onError(args[1]);
        if (name === 'onError') onError(args[0]);
        return Reflect.apply(value, target, args);
      };
    },
  });
}

const CONNECT_MS = 3_000;
const DEFAULT_PORTS: { readonly [protocol: string]: number } = {
  'http:': 80,
  'https:': 443,
  'socks:': 1080,
  'socks5:': 1080,
};

/** Whether service calls go through a proxy, and whether that proxy can be reached. */
export const proxy: DoctorCheck = {
  name: 'proxy',
  title: 'Proxy',
  after: [],
  workerSide: true,
  limitMs: CONNECT_MS + 500,
  late: 'proxy',
  run: async ({ accounts, env }) => {
    const { accounts: _each, ...finding } = await eachAccount(accounts, ({ baseUrl }) =>
      proxyOf(baseUrl, env),
    );
    return finding;
  },
};

async function proxyOf(baseUrl: string, env: NodeJS.ProcessEnv): Promise<Finding> {
  const origin = new URL(baseUrl);
  const address = proxyFor(origin, env);
  if (address === undefined) {
    const anywhere = proxyFor(origin, { ...env, no_proxy: '', NO_PROXY: '' });
    return ok(
      anywhere === undefined
        ? 'none: connects directly to the service'
        : 'not used for the service: its host is in NO_PROXY',
    );
  }
  const url = usable(address);
  if (url === undefined) return failedCheck('proxy', 'The proxy URL in the environment is invalid.');
  const where = `${url.protocol}//${url.host}`;
  const problem = await connectionProblem(url);
  return problem === undefined
    ? ok(`connects to the service through ${where}`)
    : failedCheck('proxy', `The proxy ${where}, which is configured for the service, ${problem}.`);
}

function usable(address: string): URL | undefined {
  try {
    const url = new URL(address);
    return url.protocol in DEFAULT_PORTS && url.hostname !== '' ? url : undefined;
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/** Returns the reason the proxy does not accept a connection, or undefined if it does. Sends nothing to the proxy. */
async function connectionProblem(url: URL): Promise<string | undefined> {
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port);
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port: port ?? 80 });
    const end = (problem?: string): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(CONNECT_MS, () => end(`did not respond within ${CONNECT_MS / 1_000} s`));
    socket.once('connect', () => end());
    socket.once('error', (error) => end(words(networkCode(error))));
  });
}

function words(code: string): string {
  if (code === 'ECONNREFUSED') return 'refused the connection';
  return /^(?:ENOTFOUND|EAI_)/.test(code)
    ? 'has a host name that cannot be resolved'
    : `cannot be reached (${code})`;
}

const READ_MS = 5_000;

/** Whether the model configuration can be read, is valid, and lists a video model. */
export const models: DoctorCheck = {
  name: 'models',
  title: 'Models',
  after: [],
  workerSide: true,
  limitMs: READ_MS + 1_000,
  late: 'models_unavailable',
  run: async ({ config, accounts }) => {
    // If any account lacks its own model configuration, the shared one is needed too.
    const own = accounts.filter(({ config: { models: location } }) => location !== config.models);
    if (own.length === 0) return checkModels(config);
    const { accounts: _each, ...finding } = await eachAccount(accounts, (account) =>
      checkModels(account.config),
    );
    return finding;
  },
};

async function checkModels({ models: location, unknownModels }: MediaConfig): Promise<Finding> {
  if (location === undefined)
    return ok(
      'MEDIA_MODELS is not set: any model can be used, but only with fields that are safe for every model',
    );
  let source: ModelSource;
  try {
    source = createModelSource({ location, timeoutMs: READ_MS });
  } catch (error) {
    const { message } = error as Error;
    return failedCheck(
      'models_unavailable',
      message.includes('MEDIA_MODELS') ? message : 'MEDIA_MODELS is not a valid URL.',
    );
  }
  const found = await source.lookup('doctor');
  if (found.found === 'unavailable') return failedCheck('models_unavailable', found.message);
  const listed = (await source.all()) ?? [];
  const videos = listed.filter(({ kind }) => kind === 'video').length;
  const text = `MEDIA_MODELS lists ${listed.length} models, ${videos} of them for videos`;
  if (videos > 0 || unknownModels === 'allow') return ok(text);
  const remedy =
    'Add a video model to the configuration (`temporal-media schema models` prints its schema), or set MEDIA_UNKNOWN_MODELS=allow.';
  return failedCheck('models_unavailable', `Every video would be rejected: ${text}.`, remedy);
}

/** What a service error is about. */
export type Subject = 'key' | 'path' | 'model' | 'task';

/** The first match decides. Quoted addresses have already been replaced with `/`. */
const SUBJECTS: readonly (readonly [Subject, RegExp])[] = [
  [
    'key',
    /api[ _-]?key|credential|unauthori[sz]ed|authenticat|authori[sz]ation|\bbearer\b|(?:access|auth|invalid|expired)[ _-]?token|token (?:is )?(?:invalid|expired|missing)|permission|forbidden/i,
  ],
  [
    'path',
    /cannot (?:get|post) \/|(?:invalid|unknown|wrong|such|matching) (?:url|uri|path|route|endpoint)|(?:url|uri|path|route|endpoint) (?:was |is )?(?:not found|unknown|invalid)|no (?:route|handler|static resource)|page not found|resource\b[^/]{0,40} \/(?!\w)|unknown_(?:url|path)|method not allowed/i,
  ],
  ['model', /\bmodel/i],
  ['task', /\b(?:task|video|job|generation)s?\b|\bid\b|doctor-/i],
];

/** Whether a word quotes the request URL. The "videos" in that URL does not show what the error is about. */
const isQuotedAddress = (word: string): boolean => /\[path\]|v1\/videos\//i.test(word);

/** Returns an error's subject, or undefined if it is not recognized. */
export function spokenOf({ code, message }: Pick<TaskError, 'code' | 'message'>): Subject | undefined {
  const words = `${(code ?? '').replaceAll(/[_.-]/g, ' ')} ${code ?? ''} ${(message ?? '').replaceAll(/\S+/g, (word) => (isQuotedAddress(word) ? '/' : word))}`;
  return SUBJECTS.find(([, pattern]) => pattern.test(words))?.[0];
}

/** States from worst to best. The worst one decides. */
const STATES: readonly Finding['state'][] = ['failed', 'warning', 'skipped', 'ok'];

/**
 * Checks all accounts concurrently. With several accounts, the worst finding decides, and the message names each
 * account. With a single account, its finding is returned unchanged.
 */
async function eachAccount(
  accounts: readonly AccountFacts[],
  check: (account: AccountFacts) => Promise<Finding>,
): Promise<AccountsFinding> {
  const found = await Promise.all(
    accounts.map(async (account) => ({ account: account.name, finding: await check(account) })),
  );
  const worst = STATES.flatMap((state) => found.filter(({ finding }) => finding.state === state))[0];
  if (worst === undefined) return skipped('settings');
  const each = found.map(({ account, finding: { state, message, ...rest } }) => ({
    account,
    state,
    message,
    ...('remedy' in rest && { remedy: rest.remedy }),
  }));
  if (found.length === 1) return { ...worst.finding, accounts: each };
  const message = found.map(({ account, finding }) => `${account}: ${finding.message}`).join(' ');
  const finding = { ...worst.finding, message, accounts: each };
  return 'remedy' in finding ? { ...finding, remedy: `${worst.account}: ${finding.remedy}` } : finding;
}
