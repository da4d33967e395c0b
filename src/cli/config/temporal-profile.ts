import { type ClientConfigProfile, loadClientConfigProfile } from '@temporalio/envconfig';

export interface ProfileReading {
  /** Values of the profile under the names of the variables that win over them. */
  readonly values: { readonly [variable: string]: string };
  readonly problem?: string;
}

/** The profile of Temporal's configuration file, without what the environment puts on top. */
export function readTemporalProfile(env: NodeJS.ProcessEnv): ProfileReading {
  const overrideEnvVars: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) overrideEnvVars[name] = value;
  try {
    return { values: variablesOf(loadClientConfigProfile({ disableEnv: true, overrideEnvVars })) };
  } catch (error) {
    // A parser quotes the lines around its trouble, and a key may be in one of them.
    const message = error instanceof Error ? error.message : '';
    const known = /^Profile '.*' not found in config data$/.test(message);
    return { values: {}, problem: known ? `${message}.` : 'The configuration file cannot be read.' };
  }
}

function variablesOf({ address, namespace, apiKey, tls, grpcMeta }: ClientConfigProfile): {
  [variable: string]: string;
} {
  const source = (
    name: string,
    data: NonNullable<typeof tls>['clientKey'],
  ): [string, string | undefined][] =>
    data === undefined
      ? []
      : 'path' in data
        ? [[`${name}_PATH`, data.path]]
        : [[`${name}_DATA`, String(data.data)]];
  const values: [string, string | undefined][] = [
    ['TEMPORAL_ADDRESS', address],
    ['TEMPORAL_NAMESPACE', namespace],
    ['TEMPORAL_API_KEY', apiKey],
    ['TEMPORAL_TLS', tls === undefined ? undefined : String(tls.disabled !== true)],
    ['TEMPORAL_TLS_SERVER_NAME', tls?.serverName],
    ...source('TEMPORAL_TLS_CLIENT_CERT', tls?.clientCert),
    ...source('TEMPORAL_TLS_CLIENT_KEY', tls?.clientKey),
    ...source('TEMPORAL_TLS_SERVER_CA_CERT', tls?.serverCACert),
    ...Object.entries(grpcMeta ?? {}).map(([header, value]): [string, string] => [
      `TEMPORAL_GRPC_META_${header.toUpperCase().replaceAll('-', '_')}`,
      value,
    ]),
  ];
  return Object.fromEntries(values.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
