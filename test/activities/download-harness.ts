import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createDownloadVideo } from '../../src/activities/download-video';
import {
  type DownloadBounds,
  type DownloadVideoInput,
  type DownloadVideoResult,
} from '../../src/domain/download';
import { videoTaskById } from '../../src/domain/video-task';
import { createMediaClient } from '../../src/service/create-media-client';
import { type MediaClient } from '../../src/service/media-client';
import { type ArtifactStore } from '../../src/stores/artifacts/artifact-store';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export const API_KEY = 'key-for-the-service-only';
export const TASK_ID = 'task/1 ü';
export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** One failed attempt, as the server of Temporal would see it. */
export interface FailedTry {
  readonly class: string;
  readonly delayMs: number;
  readonly httpStatus: number | null;
}

interface RetryableFailure {
  readonly nonRetryable: boolean;
  readonly nextRetryDelay: unknown;
  readonly details: unknown;
  readonly category: string;
}

/** A service and a media host on loopback, a file store, and the activity, driven like a retried activity. */
export class DownloadHarness {
  record: Record<string, unknown> = { id: TASK_ID, status: 'completed' };
  recordStatus = 200;
  recordHeaders: Record<string, string> = {};
  content: Answer = (_request, response) => response.writeHead(404).end();
  media: Answer = (_request, response) => response.writeHead(404).end();
  readonly seen: { place: 'record' | 'content' | 'media'; request: IncomingMessage }[] = [];
  readonly heartbeats: unknown[] = [];
  now = Date.parse('2026-01-01T00:00:00Z');
  bounds: Partial<DownloadBounds> = {};
  info: Record<string, unknown> = {};
  environment: MockActivityEnvironment | undefined;

  private constructor(
    private readonly servers: readonly Server[],
    readonly serviceOrigin: string,
    readonly mediaOrigin: string,
    readonly client: MediaClient,
    readonly root: string,
    public store: ArtifactStore,
  ) {}

  static async open(): Promise<DownloadHarness> {
    const opened: { harness?: DownloadHarness } = {};
    const service = await listen((request, response) => opened.harness!.serve(request, response));
    const media = await listen((request, response) => {
      opened.harness!.seen.push({ place: 'media', request });
      opened.harness!.media(request, response);
    });
    const root = await mkdtemp(join(tmpdir(), 'download-'));
    const client = createMediaClient({
      baseUrl: `${service.origin}/prefix`,
      apiKey: () => API_KEY,
      allowedMediaOrigins: [media.origin],
    });
    const harness = new DownloadHarness(
      [service.server, media.server],
      service.origin,
      media.origin,
      client,
      root,
      new FileArtifactStore(root),
    );
    opened.harness = harness;
    return harness;
  }

  async close(): Promise<void> {
    await this.client.close();
    for (const server of this.servers) await close(server);
    await rm(this.root, { recursive: true, force: true });
  }

  count(place: 'record' | 'content' | 'media'): number {
    return this.seen.filter((entry) => entry.place === place).length;
  }

  /** Names of the parts that the store holds. */
  async parts(): Promise<string[]> {
    return readdir(join(this.root, 'parts')).catch(() => []);
  }

  /** Resolves once a part holds this many bytes: only then may a server cut the line. */
  async stored(bytes: number): Promise<void> {
    for (;;) {
      for (const name of await this.parts()) {
        const found = await stat(join(this.root, 'parts', name)).catch(() => undefined);
        if ((found?.size ?? 0) >= bytes) return;
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  /** Sends the beginning of a whole answer, and cuts the connection when it was stored. */
  cut(bytes: Buffer, at: number, etag?: string): Answer {
    return (_request, response) => {
      response.writeHead(200, {
        'content-type': 'video/mp4',
        'content-length': bytes.length,
        ...(etag === undefined ? {} : { etag }),
      });
      response.write(bytes.subarray(0, at));
      void this.stored(at).then(() => response.destroy());
    };
  }

  /** One attempt. */
  async attempt(number: number, input: DownloadVideoInput, details?: unknown): Promise<DownloadVideoResult> {
    const info = {
      attempt: number,
      activityId: 'download-1',
      heartbeatTimeoutMs: 30_000,
      heartbeatDetails: details,
      scheduledTimestampMs: this.now,
      startToCloseTimeoutMs: 2_700_000,
      scheduleToCloseTimeoutMs: 0,
      ...this.info,
    };
    const currentAttemptScheduledTimestampMs = number === 1 ? info.scheduledTimestampMs : this.now;
    this.environment = new MockActivityEnvironment(
      { ...info, currentAttemptScheduledTimestampMs },
      { logger: new DefaultLogger('ERROR') },
    );
    this.environment.on('heartbeat', (sent) => this.heartbeats.push(structuredClone(sent)));
    const activity = createDownloadVideo({
      accounts: (account) => (account === 'default@00000000' ? this.client : undefined),
      artifacts: this.store,
      now: () => this.now,
      bounds: this.bounds,
    });
    return this.environment.run(activity, input);
  }

  /** All attempts, with a clock that jumps over the delays between them. */
  async run(
    input: Partial<DownloadVideoInput> = {},
    afterTry: (number: number) => void = () => undefined,
  ): Promise<{ result: DownloadVideoResult; failures: FailedTry[] }> {
    const failures: FailedTry[] = [];
    const scheduledTimestampMs = this.now;
    for (let number = 1; number <= 400; number++) {
      this.info = { scheduledTimestampMs, ...this.info };
      try {
        const full = { video: videoTaskById(TASK_ID, 'default@00000000'), ...input };
        return { result: await this.attempt(number, full, this.heartbeats.at(-1)), failures };
      } catch (error) {
        if ((error as { type?: unknown }).type !== 'MediaRetryLater') throw error;
        const { nonRetryable, nextRetryDelay, details, category } = error as RetryableFailure;
        expect({ nonRetryable, category }).toEqual({ nonRetryable: false, category: 'BENIGN' });
        const [detail] = details as [{ class: string; httpStatus: number | null }];
        failures.push({
          class: detail.class,
          delayMs: Number(nextRetryDelay),
          httpStatus: detail.httpStatus,
        });
        this.now += Number(nextRetryDelay);
        afterTry(number);
      }
    }
    throw new Error('The activity never came to an end.');
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const path = `/prefix/v1/videos/${encodeURIComponent(TASK_ID)}`;
    if (request.url === path) {
      this.seen.push({ place: 'record', request });
      response.writeHead(this.recordStatus, {
        'content-type': 'application/json',
        ...this.recordHeaders,
      });
      response.end(JSON.stringify(this.record));
    } else if (request.url === `${path}/content`) {
      this.seen.push({ place: 'content', request });
      this.content(request, response);
    } else response.writeHead(418).end();
  }
}

/** Serves bytes with ranges, as a file server does. */
export function fileAnswer(bytes: Buffer, etag?: string): Answer {
  return (request, response) => {
    const match = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const headers = { 'content-type': 'video/mp4', ...(etag === undefined ? {} : { etag }) };
    if (match !== null && request.headers['if-range'] === etag && etag !== undefined) {
      const from = Number(match[1]);
      response.writeHead(206, {
        ...headers,
        'content-length': bytes.length - from,
        'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
      });
      response.end(bytes.subarray(from));
    } else response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes);
  };
}

/** One answer after the other; the last one stays. */
export function inTurn(...answers: readonly [Answer, ...Answer[]]): Answer {
  let index = 0;
  return (request, response) => {
    const answer = answers[Math.min(index, answers.length - 1)]!;
    index += 1;
    answer(request, response);
  };
}

export const status =
  (code: number, body: unknown = '', headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(code, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
