import { type DataConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import { CodecUnreachableError } from 'temporal-media/client';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { environmentConnections } from 'temporal-media/internal/service/connections';
import { createRedactor } from 'temporal-media/internal/service/redact';
import { type CollectedReply, collectReply, parseJsonBody } from 'temporal-media/internal/service/reply-body';
import { type Dispatcher } from 'undici';
import { z } from 'zod';
import { CliError } from './errors';
import { isBareAddress } from './text';

/** A Temporal codec server: it encodes and decodes payloads for clients without the encryption key. */
export interface CodecServer {
  /** Base address of `encode` and `decode`. */
  readonly endpoint: URL;
  /** Value of the header Authorization. */
  readonly auth?: string | undefined;
  readonly namespace: string;
  /** Sends the requests to the codec server. */
  readonly dispatcher: Dispatcher;
}

/** Maximum wait for a reply, in milliseconds, and maximum reply size in bytes. */
const LIMIT_MS = 10_000;
const MAX_REPLY = 64 * 1024 * 1024;

/** Maximum characters of a refusal's reason that are shown. */
const MAX_REASON = 200;

/** Payloads in protobuf's JSON form: bytes are base64. */
const Reply = z.object({
  payloads: z.array(
    z.object({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().optional() }),
  ),
});

/**
 * Encodes and decodes with a codec server, like the `temporal` command. The server sees every payload in the clear, but
 * never a key of the service. Rejects with a CodecUnreachableError.
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
    if (reply?.body.end !== 'complete') throw this.#failed('does not answer');
    if (reply.status !== 200) throw this.#failed(`returned HTTP ${reply.status}${this.#reason(reply)}`);
    const read = Reply.safeParse(parseJsonBody(reply.body.bytes));
    if (!read.success || read.data.payloads.length !== payloads.length)
      throw this.#failed('returned something other than these payloads');
    return read.data.payloads.map(fromJson);
  }

  /**
   * The reason for refusing these payloads, such as a missing key. An HTML page from a proxy or log-in has no reason.
   */
  #reason({ status, headers, body }: CollectedReply): string {
    if (status !== 400 || !String(headers['content-type']).startsWith('text/plain')) return '';
    // With and without its scheme: the message may repeat either.
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
 * How commands read and write payloads: with the codec server of TEMPORAL_CODEC_ENDPOINT and TEMPORAL_CODEC_AUTH, as
 * the `temporal` command does (`{namespace}` in the address stands for the namespace). Without them, uses the SDK's
 * default.
 * @throws CliError `configuration` for an unusable address or proxy
 */
export function dataConverterOf(env: NodeJS.ProcessEnv, namespace: string): DataConverter | undefined {
  const named = env['TEMPORAL_CODEC_ENDPOINT']?.trim();
  if (!named) return undefined;
  const endpoint = endpointOf(named, namespace);
  const auth = env['TEMPORAL_CODEC_AUTH']?.trim() || undefined;
  const dispatcher = wayTo(endpoint, env);
  return { payloadCodecs: [new RemoteCodec({ endpoint, auth, namespace, dispatcher })] };
}

/** Errors never repeat the address: it may contain a password. */
function endpointOf(named: string, namespace: string): URL {
  try {
    const url = new URL(named.replaceAll('{namespace}', encodeURIComponent(namespace)));
    if (isBareAddress(url) && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  } catch (error) {
    throwBug(error);
    // Reported below.
  }
  const message =
    'TEMPORAL_CODEC_ENDPOINT must be an http or https address without user, query and fragment.';
  throw new CliError('configuration', message, {
    hint: 'Set it to the base address of `encode` and `decode` on the codec server; credentials belong in TEMPORAL_CODEC_AUTH.',
  });
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const CONNECT_MS = 4_000;

/** Connects directly to this machine. Elsewhere, follows HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
function wayTo(endpoint: URL, env: NodeJS.ProcessEnv): Dispatcher {
  const connections = environmentConnections(LOOPBACK.test(endpoint.hostname) ? {} : env);
  try {
    const settings = { connections: 8, connectTimeoutMs: CONNECT_MS, headersTimeoutMs: 0, bodyTimeoutMs: 0 };
    return connections(new URL(endpoint.origin), { purpose: 'models', ...settings }).dispatcher;
  } catch (error) {
    throwBug(error);
    const message = 'HTTPS_PROXY or HTTP_PROXY is not a usable address.';
    throw new CliError('configuration', message, {
      hint: 'Correct it, or name the codec server in NO_PROXY.',
    });
  }
}
