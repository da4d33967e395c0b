import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { buildConnector } from 'undici';
import { createMediaActivities } from '../../../src/activities/create-media-activities';
import { type MediaActivities } from '../../../src/domain/activities';
import { type CreatePolicy } from '../../../src/domain/create-policy';
import { type RecordedAnswer } from '../../../src/domain/log-entries';
import { stateOf } from '../../../src/domain/paid-log';
import { videoTaskById } from '../../../src/domain/video-task';
import { type ConnectionFactory, environmentConnections } from '../../../src/service/connections';
import { createMediaClient } from '../../../src/service/create-media-client';
import { accountName, normaliseBaseUrl } from '../../../src/service/endpoint';
import { type MediaClient } from '../../../src/service/media-client';
import { accountRegistry } from '../../../src/settings/accounts';
import { createModelSource } from '../../../src/settings/model-source';
import { FileArtifactStore } from '../../../src/stores/artifacts/file-store';
import { alwaysBound } from '../../support/queue-binding';
import { type Bench, execute, LARGE, NAMESPACE, TASK_ID } from './bench';
import { type Arrivals, faultServer } from './fault-server';
import { isPaid, type Operation, type Script } from './script';
import { type Witness } from './witness';

export interface Cell {
  readonly operation: Operation;
  readonly script: Script;
  /** False where the reply is a refusal, which a service gives before it takes anything (assumption A6). */
  readonly accepts: boolean;
  readonly policy?: CreatePolicy;
  /** Most creates that follow one another, as those of a workflow do after a refusal for now. @default 1 */
  readonly creates?: number;
  /** Something between the client and the server: gets its port, gives the one to call. */
  readonly through?: (port: number) => Promise<Between>;
  /** The client has little patience although the script is no hanging one. */
  readonly impatient?: boolean;
}

export interface Between {
  readonly port: number;
  close(): Promise<void>;
}

export interface CellResult {
  /** What the journal holds of a paid call, what a poll or a download came to: in the words of the table. */
  readonly came: string;
  readonly seen: Arrivals;
  /** Arrivals during a second execution of the same paid call. */
  readonly seenAgain: number;
  /** Marker and second witness of paid calls. */
  readonly marks: number;
  readonly heads: number;
  /** Head of the last request that the server read. */
  readonly head: string;
  /** Lower bound of the next send or poll, in milliseconds from the start of the call; null when none was named. */
  readonly waitMs: number | null;
}

/** Patience of the client, in milliseconds: a lot, but for services that never answer. */
const PATIENT = { paid: 60_000, headers: 60_000, body: 60_000, connect: 60_000, tick: 60_000 };
const SHORT = { paid: 4_000, headers: 1_500, body: 1_500, connect: 2_000, tick: 8_000 };

let cells = 0;

/** One call of one operation to a service with one fault, through the activity that production uses. */
export async function runCell(bench: Bench, witness: Witness, cell: Cell): Promise<CellResult> {
  const { operation, script } = cell;
  const name = `cell-${++cells}`;
  const server = await faultServer({
    script,
    isMeant: (line) => meant(operation, line),
    good: bench.good[operation],
    record: bench.record,
    trap: bench.trap.origin,
    accepts: cell.accepts && isPaid(operation),
    certificates: bench.certificates,
  });
  const between = await cell.through?.(server.port);
  const origin = originOf(script, name, between?.port ?? server.port, bench);
  const call = new Call(bench, cell, name, origin, server.port);
  let ended: Promise<void> | undefined;
  const endAll = async (): Promise<void> => {
    await call.close();
    await between?.close();
    await server.close();
  };
  const end = (): Promise<void> => (ended ??= endAll());
  try {
    if (script.before !== undefined) {
      await call.once(`${name}-before`, 0);
      if (script.before !== 'kept') await server.endOpen(script.before);
      await bench.trap.turn();
    }
    server.arm();
    call.marks = 0;
    const headsBefore = witness.heads(origin);
    const startedAt = Date.now();
    let came = { came: '', waitMs: null } as Pick<CellResult, 'came' | 'waitMs'>;
    for (let create = 0; create < (cell.creates ?? 1) && /^(?:$|R for now)/.test(came.came); create += 1)
      came = await call.once(`${name}-key`, create, startedAt);
    const first = { ...server.seen };
    const heads = witness.heads(origin) - headsBefore;
    const { marks } = call;
    // A call of unknown fate, or of a known task, is asked for again as a retry or an unpaused activity does.
    if (isPaid(operation) && /^[CU]/.test(came.came)) await call.once(`${name}-key`, 0);
    await end();
    const { started, connections } = server.seen;
    const late =
      call.marks === marks ? 0 : Math.max(started - first.started, connections - first.connections, 1);
    return { ...came, marks, heads, head: server.lastHead(), seen: server.seen, seenAgain: late };
  } finally {
    await end();
  }
}

function meant(operation: Operation, line: string): boolean {
  if (isPaid(operation)) return line.startsWith('POST ');
  return line.startsWith('GET ') && (operation === 'poll' || line.includes('/content'));
}

function originOf(script: Script, name: string, port: number, bench: Bench): string {
  if (script.nobody === 'name' || script.proxy !== undefined) return `http://${name}.invalid`;
  if (script.nobody === 'port') return `http://127.0.0.1:${bench.closedPort}`;
  return `${script.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
}

class Call {
  marks = 0;
  readonly #activities: MediaActivities;
  readonly #client: MediaClient;
  readonly #account: string;

  constructor(
    private readonly bench: Bench,
    private readonly cell: Cell,
    private readonly name: string,
    origin: string,
    port: number,
  ) {
    this.#account = accountName('default', normaliseBaseUrl(origin));
    this.#client = createMediaClient({
      baseUrl: origin,
      apiKey: () => 'key-of-the-wire-suite',
      allowedMediaOrigins: [bench.trap.origin],
      connectionFactory: this.#connections(port),
      timeouts: { pollHeadersMs: this.#limits.headers, pollBodyMs: this.#limits.body },
    });
    const accounts = accountRegistry([
      { name: this.#account, client: this.#watched(), hasKey: () => Promise.resolve(true) },
    ]);
    this.#activities = createMediaActivities({
      accounts,
      artifacts: cell.operation === 'content' ? new FileArtifactStore(join(bench.root, name)) : bench.store,
      journal: bench.journal,
      models: createModelSource(),
      policy: cell.policy,
      standing: alwaysBound,
      inputRoots: [join(bench.root, 'inputs')],
    });
  }

  async once(key: string, create: number, since = Date.now()): Promise<Pick<CellResult, 'came' | 'waitMs'>> {
    const { operation } = this.cell;
    if (isPaid(operation)) return this.#paid(operation, key, create, since);
    return operation === 'poll' ? this.#poll() : this.#content();
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  get #limits(): typeof PATIENT {
    const { script, impatient } = this.cell;
    return script.hangs === true || impatient === true ? SHORT : PATIENT;
  }

  /** Production's connections; only the time to connect and the trusted authority are the test's. */
  #connections(port: number): ConnectionFactory {
    const { script } = this.cell;
    const proxy = `http://127.0.0.1:${port}`;
    const direct = environmentConnections(script.proxy === undefined ? {} : { HTTP_PROXY: proxy });
    return (origin, settings) => {
      const connectTimeoutMs = Math.min(settings.connectTimeoutMs, this.#limits.connect);
      const timeout = connectTimeoutMs;
      const connector = buildConnector({ timeout, allowH2: false, ca: this.bench.certificates.ca });
      const own = settings.connector === undefined && origin.protocol === 'https:';
      return direct(origin, { ...settings, connectTimeoutMs, ...(own ? { connector } : {}) });
    };
  }

  /** The real client with the suite's patience, and a count of its marker. */
  #watched(): MediaClient {
    const client = this.#client;
    const { paid, headers, body } = this.#limits;
    const own = { deadlineMs: paid, onSend: () => void (this.marks += 1) };
    return {
      ...client,
      createVideo: (sent, options) => client.createVideo(sent, { ...options, ...own }),
      editImage: (sent, options) => client.editImage(sent, { ...options, ...own }),
      fetchContent: (request) =>
        client.fetchContent({ ...request, headersTimeoutMs: headers, bodyIdleTimeoutMs: body }),
    };
  }

  async #paid(operation: 'create' | 'edit', creationKey: string, create: number, since: number) {
    const { bench, name } = this;
    const large = this.cell.script.at === 'half';
    const sender = `${name}-${creationKey}-${create}`;
    if (operation === 'create') {
      const prompt = large ? 'p'.repeat(LARGE) : 'a lighthouse';
      const request = { model: 'video-1', prompt };
      const given = { creationKey, sender, request };
      await execute(sender, () => this.#activities['media.createVideo'](given), 1);
    } else {
      const images = [{ file: large ? bench.pictures.large : bench.pictures.small }];
      const request = { model: 'image-2', prompt: 'a boat', images };
      const given = { creationKey, sender, request };
      await execute(sender, () => this.#activities['media.editImage'](given), 1);
    }
    const { sends } = stateOf(await bench.journal.read({ namespace: NAMESPACE, creationKey }));
    const answer = sends.at(-1)?.answer?.answer;
    if (answer === undefined) throw new Error(`No answer was recorded for ${operation}.`);
    const notBefore = 'notBefore' in answer ? (answer.notBefore ?? null) : null;
    return { came: classOf(answer), waitMs: notBefore === null ? null : Date.parse(notBefore) - since };
  }

  async #poll() {
    const byModel = [{ model: 'video-1', ids: [TASK_ID], seen: [''] }];
    const input = { account: this.#account, budgetMs: this.#limits.tick, minIntervalMs: 0, byModel };
    const { answers } = await execute(this.name, () => this.#activities['media.pollVideos'](input));
    const [answer] = answers;
    if (answer === undefined || answers.length > 1) throw new Error('A poll has one answer.');
    if ('error' in answer) return { came: answer.error, waitMs: answer.retryAfterMs ?? null };
    if ('unchanged' in answer) throw new Error('Nothing was seen that could be unchanged.');
    const { status, progress } = answer.record;
    return { came: status === 'in_progress' && progress === 42 ? 'record' : 'another record', waitMs: null };
  }

  async #content() {
    const video = videoTaskById(TASK_ID, this.#account);
    try {
      const result = await execute(this.name, () => this.#activities['media.downloadVideo']({ video }));
      if (result.outcome === 'downloaded') return { came: this.#judged(result.artifact), waitMs: null };
      return { came: `end ${result.reason}`, waitMs: null };
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      const [detail] = error.details as [{ class: string }];
      return { came: `again ${detail.class}`, waitMs: Number(error.nextRetryDelay) };
    }
  }

  #judged({ sha256 }: { readonly sha256: string }): string {
    const same = createHash('sha256').update(this.bench.video).digest('hex') === sha256;
    return same ? 'downloaded' : 'downloaded something else';
  }
}

/** A recorded answer in the words of the table. */
function classOf(answer: RecordedAnswer): string {
  switch (answer.outcome) {
    case 'created':
    case 'completed':
      return 'C';
    case 'results_lost':
      return 'C results_lost';
    case 'not_sent':
      return `N ${answer.cause}${answer.permanent ? ' for good' : ''}`;
    case 'refused_for_now':
      return 'R for now';
    case 'rejected':
      return `R ${answer.reason}`;
    case 'unconfirmed':
      return `U ${answer.evidence.cause}`;
  }
}
