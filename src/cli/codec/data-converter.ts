import { type DataConverter } from '@temporalio/common';
import { CliError } from '../cli-error';
import { RemoteCodec } from './remote-codec';

/**
 * How commands read and write payloads: by the codec server that TEMPORAL_CODEC_ENDPOINT and TEMPORAL_CODEC_AUTH name, as
 * the `temporal` command does; `{namespace}` in the address stands for the namespace. Without them as the SDK does.
 * @throws CliError `configuration` for what is no address
 */
export function dataConverterOf(env: NodeJS.ProcessEnv, namespace: string): DataConverter | undefined {
  const named = env['TEMPORAL_CODEC_ENDPOINT']?.trim();
  if (!named) return undefined;
  const auth = env['TEMPORAL_CODEC_AUTH']?.trim() || undefined;
  return { payloadCodecs: [new RemoteCodec({ endpoint: endpointOf(named, namespace), auth, namespace })] };
}

function endpointOf(named: string, namespace: string): URL {
  try {
    const url = new URL(named.replaceAll('{namespace}', encodeURIComponent(namespace)));
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // Told below: the text itself may hold a password.
  }
  throw new CliError('configuration', 'TEMPORAL_CODEC_ENDPOINT is no http or https address.', {
    hint: 'Set it to the address below which the codec server has `encode` and `decode`, or remove it.',
  });
}
