import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseWrittenJson, RepeatedNameError } from 'temporal-media/internal/domain/json';
import { createAddressFilter } from 'temporal-media/internal/service/address-filter';
import { ConfigurationError, keyFileText } from 'temporal-media/internal/settings/config';
import { z } from 'zod';
import { NOTICE_TYPES, type NoticeType } from './notice';

/** The environment variable with the file of the endpoints. */
export const NOTIFY_VARIABLE = 'MEDIA_NOTIFY';

const TYPES = Object.keys(NOTICE_TYPES) as [NoticeType, ...NoticeType[]];

const endpointSchema = z.strictObject({
  url: z.string(),
  events: z.array(z.enum(TYPES)).min(1, 'must name at least one type of notice').optional(),
  secretFile: z.string().min(1, 'must be the path of a file that contains the secret, whsec_…'),
  allowPrivate: z.boolean().optional(),
});

/** The schema of the MEDIA_NOTIFY file. */
export const notifySchema = z.strictObject({ version: z.literal(1), endpoints: z.array(endpointSchema) });

/** A receiver of notices, as in MEDIA_NOTIFY and `startNotices({ endpoints })`. */
export interface NotifyEndpoint {
  /** An https address without user info. It may contain a secret, so it is never logged. */
  readonly url: string;
  /** The notices that it gets. @default all */
  readonly events?: readonly NoticeType[] | undefined;
  /**
   * File with one or more signing secrets (`whsec_` and 24 to 64 bytes in Base64), separated by white space and read at
   * every use. With several, a receiver accepts any of them while one replaces another. Relative to the file of the
   * endpoints; in code, to the working directory.
   */
  readonly secretFile: string;
  /** Also allows http and an address on this machine or in a private network, for this endpoint only. @default false */
  readonly allowPrivate?: boolean | undefined;
}

/** A usable endpoint. */
export interface Endpoint {
  /** Eight hex digits of the hashed URL, which identify the endpoint in histories and logs. */
  readonly id: string;
  readonly url: URL;
  readonly allowPrivate: boolean;
  readonly wants: (type: NoticeType) => boolean;
  /** Reads the secrets. @throws ConfigurationError without the secret */
  readonly secrets: () => readonly string[];
}

/** Reads the endpoints from a file. @throws ConfigurationError with the field, without any URL */
export function readEndpoints(path: string): readonly Endpoint[] {
  let json: unknown;
  try {
    json = parseWrittenJson(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof RepeatedNameError) throw wrong(`the file ${error.message}.`);
    // The parser's message quotes the file, which may contain secrets.
    throw wrong(
      `the file ${error instanceof SyntaxError ? 'is not JSON' : 'cannot be read by this process'}.`,
    );
  }
  const read = notifySchema.safeParse(json);
  if (!read.success) throw wrong(`the file is not valid: ${z.prettifyError(read.error)}`);
  return endpointsOf(read.data.endpoints, dirname(resolve(path)));
}

/** Checks endpoints from code or a file. @throws ConfigurationError */
export function endpointsOf(given: readonly NotifyEndpoint[], folder = process.cwd()): readonly Endpoint[] {
  const endpoints = given.map(({ url: text, events, secretFile, allowPrivate = false }, index) => {
    const field = `endpoints[${index}]`;
    const url = usableUrl(text, `${field}.url`, allowPrivate);
    const file = resolve(folder, secretFile);
    return {
      id: createHash('sha256').update(url.href).digest('hex').slice(0, 8),
      url,
      allowPrivate,
      // A test is for every endpoint.
      wants: (type: NoticeType) => type === 'notices.test' || (events?.includes(type) ?? true),
      secrets: () => secretsIn(file, `${field}.secretFile`),
    };
  });
  const repeated = endpoints.findIndex(({ id }, at) =>
    endpoints.some((one, other) => other < at && one.id === id),
  );
  if (repeated !== -1)
    throw wrong(`endpoints[${repeated}].url is also the url of another endpoint. Merge their events.`);
  return endpoints;
}

function usableUrl(text: string, field: string, allowPrivate: boolean): URL {
  if (!URL.canParse(text))
    throw wrong(`${field} must be an address such as https://hooks.example.com/media.`);
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
    throw wrong(`${field} must begin with https://. For http, set allowPrivate to true.`);
  if (url.username !== '' || url.password !== '')
    throw wrong(`${field} must not contain a user or a password. Notices are signed with the secret.`);
  if (!filterOf({ url, allowPrivate }).allowsLiteral(url))
    throw wrong(
      `${field} is an address on this machine or in a private network. If it is meant, set allowPrivate to true.`,
    );
  url.hash = '';
  return url;
}

/** Returns the filter that every connection to an endpoint passes. */
export const filterOf = ({ url, allowPrivate }: Pick<Endpoint, 'url' | 'allowPrivate'>) =>
  createAddressFilter(allowPrivate ? [url.origin] : []);

function secretsIn(file: string, field: string): readonly string[] {
  const secrets = keyFileText(file, NOTIFY_VARIABLE, `${field} `).split(/\s+/).filter(Boolean);
  if (secrets.length === 0 || !secrets.every(isSecret))
    throw wrong(
      `${field} must contain whsec_ and 24 to 64 random bytes in Base64, for example from: echo "whsec_$(openssl rand -base64 32)".`,
    );
  return secrets;
}

function isSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  return base64.length % 4 === 0 && length >= 24 && length <= 64;
}

const wrong = (problem: string): ConfigurationError => new ConfigurationError(NOTIFY_VARIABLE, problem);
