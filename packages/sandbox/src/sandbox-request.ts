import { type SandboxOperation } from './faults';
import { isJsonObject } from './json-value';

/** One part of a multipart body, in the order of the wire. */
export interface SandboxPart {
  /** Name of the field. */
  name: string;
  /** A file has a file name; a field has a value. */
  kind: 'field' | 'file';
  /** Text of a field. */
  value?: string;
  /** Of a file. */
  filename?: string;
  /** As the part says it. */
  contentType: string;
  /** Size in bytes. */
  bytes: number;
  /** Lowercase hexadecimal, of the bytes. */
  sha256: string;
}

/** How a request ended on the wire. */
export type SandboxFinish = 'sent' | 'reset' | 'stalled' | 'cut' | 'client_gone';

/** One request as the sandbox received it. Keys, cookies and signatures are never stored. */
export interface SandboxRequest {
  /** Number in the order of arrival. */
  seq: number;
  /** Arrival, Unix time in milliseconds. */
  at: number;
  /** The service itself, or the host of its results. */
  origin: 'api' | 'media';
  /** What the request asks for. */
  operation: SandboxOperation;
  /** HTTP method. */
  method: string;
  /** Without the query. */
  path: string;
  /** Query parameters; the value of a signature is replaced by 'masked'. */
  query: Record<string, string>;
  /** Headers of interest to tests, by lower-case name. */
  headers: Record<string, string>;
  /** Names of all headers. */
  headerNames: string[];
  /** What the key is worth; the key itself is not stored. */
  authorization: 'none' | 'valid' | 'invalid' | 'forbidden';
  /** Whether it had a cookie. */
  cookie: boolean;
  /** Parsed JSON body; strings above 8192 characters are replaced by their length and SHA-256. */
  json?: unknown;
  /** Of a multipart body. */
  parts?: SandboxPart[];
  /** Size in bytes. */
  bodyBytes: number;
  /** Lowercase hexadecimal. */
  bodySha256: string;
  /** The same number for requests over one connection. */
  socketId: number;
  /** Status of the reply; absent while there is none. */
  status?: number;
  /** True when the paid call was accepted, also when the reply was lost afterwards. */
  accepted: boolean;
  /** The task that was created or asked for. */
  taskId?: string;
  /** The contract violations of this request. */
  violations: string[];
  /** Absent while the reply is under way. */
  finished?: SandboxFinish;
}

const localPath = /^(file:|[a-z]:[\\/]|\\\\|~\/|\.{1,2}\/|\/(?!\/))/i;

/**
 * Dotted paths of the fields whose value resembles a local path (contract 2.4: never in JSON).
 * `skip` names top-level fields with free text, or with Base64, which may begin with a slash.
 */
export function localPathFields(value: unknown, skip: readonly string[], at = ''): string[] {
  if (typeof value === 'string') return localPath.test(value) ? [at] : [];
  if (Array.isArray(value)) return value.flatMap((inner) => localPathFields(inner, skip, at));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (at === '' && skip.includes(name)) return [];
    return localPathFields(inner, skip, at === '' ? name : `${at}.${name}`);
  });
}
