import { type DataConverter } from '@temporalio/common';
import { type Dispatcher } from 'undici';
import { environmentConnections } from '../../service/connections';
import { CliError } from '../cli-error';
import { isBareAddress } from './bare-address';
import { RemoteCodec } from './remote-codec';

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
