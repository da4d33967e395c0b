import { type Payload, type PayloadCodec } from '@temporalio/common';
import { CodecUnreachableError } from 'temporal-media/client';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { environmentConnections } from 'temporal-media/internal/service/connections';
import { createRedactor } from 'temporal-media/internal/service/redact';
import { type CollectedReply, collectReply, parseJsonBody } from 'temporal-media/internal/service/reply-body';
import { type Dispatcher } from 'undici';
import { z } from 'zod';
import { CliError } from './errors';
import { isBareAddress } from './text';

/** A Temporal codec server, which encodes and decodes payloads for clients without the encryption key. */
export interface CodecServer {
  /** Base URL of `encode` and `decode`. */
  readonly endpoint: URL;
  /** Value of the Authorization header. */
  readonly auth?: string | undefined;
  readonly namespace: string;
  /** Sends the requests to the codec server. */
  readonly dispatcher: Dispatcher;
}

/** Maximum wait for a reply, in milliseconds, and maximum reply size in bytes. */
const LIMIT_MS = 10_000;
const MAX_REPLY = 64 * 1024 * 1024;

/** Maximum number of characters to show of an error's reason. */
const MAX_REASON = 200;

/** Payloads in protobuf's JSON format, with bytes as base64. */
const Reply = z.object({
  payloads: z.array(
    z.object({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().optional() }),
  ),
});

/**
 * Encodes and decodes with a codec server, like the `temporal` command. The server sees every payload in plain text,
 * but never the media service's key. Rejects with a CodecUnreachableError.
 */
class RemoteCodec implements PayloadCodec {
  constructor(private readonly server: CodecServer) {}

  encode(payloads: Payload[]): Promise<Payload[]> {
    return this.#ask('encode', payloads);
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return this.#ask('decode', payloads);
  }

  async #ask(what: 'encode' | 'decode', payloads: Payload[]): Promise<Payload[]> {
    if (payloads.length === 0) return payloads;
    const { endpoint, auth, namespace, dispatcher } = this.server;
    const path = `${endpoint.pathname.replace(/(?<!\/)\/+$/, '')}/${what}`;
    const reply = await collectReply(
      dispatcher,
      {
        origin: endpoint.origin,
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-namespace': namespace,
          ...(auth !== undefined && { authorization: auth }),
        },
        body: JSON.stringify({ payloads: payloads.map(toJson) }),
      },
      { withinMs: LIMIT_MS, maxBytes: MAX_REPLY },
      AbortSignal.timeout(LIMIT_MS),
    ).catch(otherwise(undefined));
    if (reply?.body.end !== 'complete') throw this.#failed('did not respond');
    if (reply.status !== 200) throw this.#failed(`returned HTTP ${reply.status}${this.#reason(reply)}`);
    const read = Reply.safeParse(parseJsonBody(reply.body.bytes));
    if (!read.success || read.data.payloads.length !== payloads.length)
      throw this.#failed('returned something other than these payloads');
    return read.data.payloads.map(fromJson);
  }

  /**
   * Returns the reason the server rejected these payloads, such as a missing key. Empty for an HTML page from a proxy
   * or a login.
   */
  #reason({ status, headers, body }: CollectedReply): string {
    if (status !== 400 || !String(headers['content-type']).startsWith('text/plain')) return '';
    // Redacts the credential with and without its scheme, because the message may repeat either.
    const { auth = '' } = this.server;
    const said = createRedactor([auth, ...auth.split(/\s+/)]).text(body.bytes.toString('utf8'), MAX_REASON);
    return said === '' ? '' : `: ${said.replace(/\.$/, '')}`;
  }

  #failed(why: string): CodecUnreachableError {
    return new CodecUnreachableError(`The codec server at ${this.server.endpoint.origin} ${why}.`);
  }
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

function toJson({ metadata, data }: Payload): object {
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]),
    ),
    ...(data != null && { data: base64(data) }),
  };
}

function fromJson({ metadata, data }: z.infer<typeof Reply>['payloads'][number]): Payload {
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value, 'base64')]),
    ),
    data: Buffer.from(data ?? '', 'base64'),
  };
}

/**
 * Returns a codec that uses the codec server in TEMPORAL_CODEC_ENDPOINT and TEMPORAL_CODEC_AUTH, as the `temporal`
 * command does (`{namespace}` in the URL is replaced). Undefined if they are not set.
 * @throws CliError `configuration` for an invalid URL or proxy
 */
export function remoteCodecOf(env: NodeJS.ProcessEnv, namespace: string): PayloadCodec | undefined {
  const named = env['TEMPORAL_CODEC_ENDPOINT']?.trim();
  if (!named) return undefined;
  const endpoint = endpointOf(named, namespace);
  const auth = env['TEMPORAL_CODEC_AUTH']?.trim() || undefined;
  const dispatcher = wayTo(endpoint, env);
  return new RemoteCodec({ endpoint, auth, namespace, dispatcher });
}

/** Parses the endpoint. Errors never repeat the URL, because it may contain a password. */
function endpointOf(named: string, namespace: string): URL {
  try {
    const url = new URL(named.replaceAll('{namespace}', encodeURIComponent(namespace)));
    if (isBareAddress(url) && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  } catch (error) {
    throwBug(error);
    // Reported below.
  }
  const message =
    'TEMPORAL_CODEC_ENDPOINT must be an http or https URL without user info, query or fragment.';
  throw new CliError('configuration', message, {
    hint: 'Set it to the base URL of `encode` and `decode` on the codec server. Set credentials in TEMPORAL_CODEC_AUTH.',
  });
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const CONNECT_MS = 4_000;

/** Connects to this machine directly, and to other hosts according to HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
function wayTo(endpoint: URL, env: NodeJS.ProcessEnv): Dispatcher {
  const connections = environmentConnections(LOOPBACK.test(endpoint.hostname) ? {} : env);
  try {
    const settings = { connections: 8, connectTimeoutMs: CONNECT_MS, headersTimeoutMs: 0, bodyTimeoutMs: 0 };
    return connections(new URL(endpoint.origin), { purpose: 'models', ...settings }).dispatcher;
  } catch (error) {
    throwBug(error);
    const message = 'HTTPS_PROXY or HTTP_PROXY is not a valid URL.';
    throw new CliError('configuration', message, {
      hint: 'Fix it, or add the codec server to NO_PROXY.',
    });
  }
}
