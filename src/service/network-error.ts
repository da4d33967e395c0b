/** A network error before a request was sent: a public cause, and whether a later try can succeed. */
export interface UnsentCause {
  readonly cause: string;
  readonly permanent: boolean;
  readonly message: string;
}

const CAUSES: readonly (readonly [RegExp, string, string])[] = [
  [/^ECONNREFUSED$/, 'connection_refused', 'The service refused the connection.'],
  [/^(?:ENOTFOUND|EAI_)/, 'host_not_found', 'The host name of the service could not be resolved.'],
  [
    /^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    'connect_timeout',
    'The service did not accept the connection in time.',
  ],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/,
    'host_unreachable',
    'The service cannot be reached.',
  ],
  [/^UND_ERR_PRX/, 'proxy_refused', 'The proxy did not open a tunnel to the service.'],
  [/^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/, 'tls_failed', 'No secure connection to the service could be made.'],
  [
    /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
    'connection_reset',
    'The connection ended before anything was sent.',
  ],
];

const CERTIFICATE =
  /^(?:CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID$|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$)/;

/** For errors with an unset marker only: codes alone prove nothing (failure model: What a client can prove). */
export function unsentCause(error: unknown): UnsentCause {
  const code = networkCode(error);
  if (CERTIFICATE.test(code)) {
    return {
      cause: 'certificate_not_trusted',
      permanent: true,
      message: 'The certificate of the service is not trusted; NODE_EXTRA_CA_CERTS names additional ones.',
    };
  }
  if (isTunnelRefusal(error)) {
    return {
      cause: 'proxy_refused',
      permanent: false,
      message: 'The proxy did not open a tunnel to the service.',
    };
  }
  const known = CAUSES.find(([pattern]) => pattern.test(code));
  return {
    cause: known?.[1] ?? 'connection_failed',
    permanent: false,
    message: known?.[2] ?? 'No connection to the service could be made.',
  };
}

/** The code of a network error, also from inside an AggregateError or a cause; `unknown` when it has none. */
export function networkCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code;
  if (Array.isArray(errors) && errors.length > 0) return networkCode(errors[0]);
  return cause === undefined ? 'unknown' : networkCode(cause);
}

function isTunnelRefusal(error: unknown): boolean {
  return error instanceof Error && /^Proxy response \(\d+\)/.test(error.message);
}

/** A function, because the value changes during a call. */
export function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
