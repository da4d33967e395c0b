import { type DataConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import { type Dispatcher } from 'undici';
import { z } from 'zod';
import { CodecUnreachableError } from '../client';
import { collectReply } from '../service/collect-reply';
import { environmentConnections } from '../service/connections';
import { parseJsonBody } from '../service/reply-body';
import { isBareAddress } from './codec/bare-address';
import { CliError } from './errors';

/** A codec server of Temporal: what encodes and decodes payloads for those who do not have the key. */
export interface CodecServer {
  /** Address below which `encode` and `decode` are. */
  readonly endpoint: URL;
  /** Value of the header Authorization. */
  readonly auth?: string | undefined;
  readonly namespace: string;
  /** The way to it. */
  readonly dispatcher: Dispatcher;
}

/** Longest wait for a reply, in milliseconds, and its largest size in bytes. */
const LIMIT_MS = 10_000;
const MAX_REPLY = 64 * 1024 * 1024;

/** The JSON form of payloads in protobuf: bytes in base64. */
const Reply = z.object({
  payloads: z.array(
    z.object({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().optional() }),
  ),
});

/**
 * Encodes and decodes by a codec server, as the `temporal` command does. It gets every payload in the clear, and never a
 * key of the service. Rejects with a CodecUnreachableError.
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
    const path = `${endpoint.pathname.replace(/\/+$/, '')}/${what}`;
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
      { headersWithinMs: LIMIT_MS, withinMs: LIMIT_MS, maxBytes: MAX_REPLY },
      AbortSignal.timeout(LIMIT_MS),
    ).catch(() => undefined);
    if (reply?.body.end !== 'complete') throw this.#failed('does not answer');
    if (reply.status !== 200) throw this.#failed(`answers with HTTP ${reply.status}`);
    const read = Reply.safeParse(parseJsonBody(reply.body.bytes));
    if (!read.success || read.data.payloads.length !== payloads.length)
      throw this.#failed('answers with something else than these payloads');
    return read.data.payloads.map(fromJson);
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
 * How commands read and write payloads: by the codec server that TEMPORAL_CODEC_ENDPOINT and TEMPORAL_CODEC_AUTH name, as
 * the `temporal` command does; `{namespace}` in the address stands for the namespace. Without them as the SDK does.
 * @throws CliError `configuration` for what is no such address, and for a proxy that is none
 */
export function dataConverterOf(env: NodeJS.ProcessEnv, namespace: string): DataConverter | undefined {
  const named = env['TEMPORAL_CODEC_ENDPOINT']?.trim();
  if (!named) return undefined;
  const endpoint = endpointOf(named, namespace);
  const auth = env['TEMPORAL_CODEC_AUTH']?.trim() || undefined;
  const dispatcher = wayTo(endpoint, env);
  return { payloadCodecs: [new RemoteCodec({ endpoint, auth, namespace, dispatcher })] };
}

/** The address itself is never repeated: it may hold a password. */
function endpointOf(named: string, namespace: string): URL {
  try {
    const url = new URL(named.replaceAll('{namespace}', encodeURIComponent(namespace)));
    if (isBareAddress(url) && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  } catch {
    // Told below.
  }
  const message = 'TEMPORAL_CODEC_ENDPOINT is no http or https address without user, query and fragment.';
  throw new CliError('configuration', message, {
    hint: 'Set it to the address below which the codec server has `encode` and `decode`; what opens it belongs in TEMPORAL_CODEC_AUTH.',
  });
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const CONNECT_MS = 4_000;

/** Direct to this machine, elsewhere as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say. */
function wayTo(endpoint: URL, env: NodeJS.ProcessEnv): Dispatcher {
  const connections = environmentConnections(LOOPBACK.test(endpoint.hostname) ? {} : env);
  try {
    const settings = { connections: 8, connectTimeoutMs: CONNECT_MS, headersTimeoutMs: 0, bodyTimeoutMs: 0 };
    return connections(new URL(endpoint.origin), { purpose: 'models', ...settings }).dispatcher;
  } catch {
    const message = 'The proxy that HTTPS_PROXY or HTTP_PROXY names is no address.';
    throw new CliError('configuration', message, {
      hint: 'Correct it, or name the codec server in NO_PROXY.',
    });
  }
}
