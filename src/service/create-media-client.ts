import { type Dispatcher } from 'undici';
import { otherwise } from '../domain/bug';
import { given } from '../domain/json';
import { isUsableTaskId } from '../domain/video-task';
import { type AddressFilter, createAddressFilter } from './address-filter';
import { type ConnectionFactory, environmentConnections, interimLimit } from './connections';
import { fetchContent, type HopConnection } from './content-fetch';
import { type ApiCaller, apiUrl, credentialsOf, normaliseBaseUrl, redactorFor } from './endpoint';
import { getVideo } from './get-video';
import {
  type ClientTimeouts,
  type ImagesAccepted,
  type MediaClient,
  type MediaClientOptions,
  type PaidSendOptions,
  type VideoAccepted,
} from './media-client';
import { proxySecrets } from './proxy-environment';
import { readImageReply, readVideoReply } from './read-replies';
import { MAX_REPLY_BYTES } from './reply-body';
import { type PaidRoute, sendPaid } from './send-paid';
import { type WireJsonBody, type WireMultipartBody } from './wire-body';

const TIMEOUTS: ClientTimeouts = { paidHttpMs: 60_000, pollHeadersMs: 10_000, pollBodyMs: 10_000 };
const CONNECT_TIMEOUT_MS = 10_000;

/** Creates a client for one service and one credential. Opens sockets lazily. Throws for an invalid base address. */
export function createMediaClient(options: MediaClientOptions): MediaClient {
  const baseUrl = normaliseBaseUrl(options.baseUrl);
  const origin = new URL(new URL(baseUrl).origin);
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const caller: ApiCaller = {
    baseUrl,
    apiKey: options.apiKey,
    userAgent: options.userAgent ?? 'temporal-media',
    // oxlint-disable-next-line house/no-wall-clock-durations -- for the dates of replies
    now: options.now ?? Date.now,
    connectionFactory: options.connectionFactory ?? environmentConnections(),
    secrets: joined(proxySecrets(process.env), options.otherSecrets),
  };
  const filter = createAddressFilter([origin.origin, ...(options.allowedMediaOrigins ?? [])]);
  const connections = new ClientConnections(
    caller.connectionFactory,
    filter,
    origin,
    timeouts,
    options.connections,
  );

  const paid =
    <Accepted>(route: PaidRoute<Accepted>) =>
    (body: WireJsonBody | WireMultipartBody, send: PaidSendOptions) =>
      sendPaid(caller, route, body, { deadlineMs: timeouts.paidHttpMs, ...send });
  const redactor = async () => (await credentialsOf(caller))?.redactor ?? redactorFor(caller);

  return {
    baseUrl,
    createVideo: paid(VIDEO_ROUTE),
    generateImage: paid(imageRoute('generations', baseUrl)),
    editImage: paid(imageRoute('edits', baseUrl)),
    getVideo: async (taskId, { purpose = 'poll', ...options } = {}) => {
      const pool = () => connections[purpose]().dispatcher;
      return getVideo(caller, pool, taskId, timeouts.pollBodyMs, options);
    },
    contentUrl: (taskId) => {
      if (!isUsableTaskId(taskId)) throw new Error('This task ID cannot be part of a URL path.');
      return apiUrl(baseUrl, 'videos', taskId, 'content');
    },
    cleanPage: async (page) => (await redactor()).page(page),
    redactor,
    fetchContent: (request) =>
      fetchContent({ caller, filter, connect: (url, own) => connections.hop(url, own) }, request),
    close: () => connections.close(),
  };
}

/** The connections of one client: a pool for polls, one for content, and sockets for single fetches. */
class ClientConnections {
  private readonly opened = new Set<Dispatcher>();
  private pollPool: HopConnection | undefined;
  private contentPool: HopConnection | undefined;

  constructor(
    private readonly factory: ConnectionFactory,
    private readonly filter: AddressFilter,
    private readonly origin: URL,
    private readonly timeouts: ClientTimeouts,
    private readonly limits: MediaClientOptions['connections'],
  ) {}

  poll(): HopConnection {
    const { pollHeadersMs, pollBodyMs } = this.timeouts;
    return (this.pollPool ??= this.open(
      'poll',
      this.origin,
      this.limits?.poll ?? 64,
      pollHeadersMs,
      pollBodyMs,
    ));
  }

  content(): HopConnection {
    return (this.contentPool ??= this.open(
      'content',
      this.origin,
      this.limits?.content ?? 32,
      30_000,
      30_000,
    ));
  }

  hop(url: URL, ownOrigin: boolean): HopConnection {
    if (ownOrigin) return { ...this.content(), release: () => undefined };
    // Each fetch opens its own socket, so a checked address is trusted for one fetch only.
    return this.open('media', new URL(url.origin), 1, 30_000, 30_000);
  }

  async close(): Promise<void> {
    const all = [...this.opened];
    this.opened.clear();
    await Promise.all(all.map((dispatcher) => dispatcher.destroy().catch(otherwise(undefined))));
  }

  private open(
    purpose: 'poll' | 'content' | 'media',
    to: URL,
    connections: number,
    headersTimeoutMs: number,
    bodyTimeoutMs: number,
  ): HopConnection {
    const { dispatcher, viaProxy } = this.factory(to, {
      purpose,
      connections,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      headersTimeoutMs,
      bodyTimeoutMs,
      ...(purpose === 'media' ? { connector: this.filter.connector(CONNECT_TIMEOUT_MS) } : {}),
    });
    this.opened.add(dispatcher);
    const limited = dispatcher.compose(interimLimit(headersTimeoutMs));
    return { dispatcher: limited, viaProxy, release: () => this.release(dispatcher) };
  }

  private release(dispatcher: Dispatcher): void {
    if (this.opened.delete(dispatcher)) dispatcher.destroy().catch(() => undefined);
  }
}

const VIDEO_ROUTE: PaidRoute<VideoAccepted> = {
  segments: ['videos'],
  maxReplyBytes: MAX_REPLY_BYTES.videoCreate,
  read: readVideoReply,
  unreadable: 'reply_without_id',
  wantsForm:
    'If this service accepts creates only as multipart/form-data, set "createForm": "multipart" for the model in MEDIA_MODELS.',
};

function imageRoute(operation: 'generations' | 'edits', baseUrl: string): PaidRoute<ImagesAccepted> {
  return {
    segments: ['images', operation],
    maxReplyBytes: MAX_REPLY_BYTES.imageCall,
    read: (json, { httpStatus, headers, redactor, actual, billed }) => {
      const reply = readImageReply(json, { baseUrl, redactor, actual });
      if (reply === undefined) return undefined;
      return { class: 'accepted', httpStatus, headers, ...given({ actual: billed }), ...reply };
    },
    unreadable: 'reply_without_data',
  };
}

/** Joins both lists. Returns the same array as long as `others` does. */
function joined(
  own: readonly string[],
  others: (() => readonly string[]) | undefined,
): () => readonly string[] {
  let seen: readonly string[] = [];
  let all = own;
  return () => {
    const now = others?.() ?? seen;
    if (now !== seen) [seen, all] = [now, [...own, ...now]];
    return all;
  };
}
