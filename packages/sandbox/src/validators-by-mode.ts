import {
  compatGeneration,
  validateCompatEdit,
  validateCompatGeneration,
  validateCompatVideo,
} from './compat';
import { type Exchange } from './exchange';
import { type JsonObject } from './json-value';
import { type SandboxMode } from './options';
import { type SandboxPart } from './request-log';
import { validateEdit, validateGeneration, validateVideo, type Violation } from './validate-bodies';

/** Validates the requests of one mode. */
export interface RequestValidator {
  video(exchange: Exchange, body: JsonObject | undefined): Violation[];
  generation(exchange: Exchange, body: JsonObject | undefined): Violation[];
  edit(exchange: Exchange, parts: SandboxPart[] | undefined): Violation[];
  /** Requests without a body: polls and downloads. */
  read(exchange: Exchange): Violation[];
}

const noMultipart: Violation[] = [
  { message: 'an edit must be multipart/form-data', code: 'invalid_content_type' },
];

const strict: RequestValidator = {
  video: json(validateVideo),
  generation: json(validateGeneration),
  edit: (_exchange, parts) => (parts === undefined ? noMultipart : validateEdit(parts)),
  read: ({ request: { headers } }) => {
    const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
    return hasBody ? [{ message: 'this request must not have a body', code: 'unexpected_body' }] : [];
  },
};

/** Accepts what published clients send. */
const compat: RequestValidator = {
  video: (exchange, body) =>
    body !== undefined && exchange.request.isMultipart()
      ? validateCompatVideo(body)
      : json(validateCompatVideo)(exchange, body),
  generation: json((body) => validateCompatGeneration(compatGeneration(body))),
  edit: (_exchange, parts) => (parts === undefined ? noMultipart : validateCompatEdit(parts)),
  read: () => [],
};

/** Each mode's validator. */
export const requestValidators: Record<SandboxMode, RequestValidator> = { strict, compat };

/** Checks the type of a JSON body before its fields. */
function json(validate: (body: JsonObject) => Violation[]): RequestValidator['video'] {
  return (exchange, body) => [...validateJson(exchange, body), ...(body ? validate(body) : [])];
}

function validateJson(exchange: Exchange, body: JsonObject | undefined): Violation[] {
  const type = exchange.request.headers['content-type'] ?? '';
  if (!/^application\/json(;\s*charset="?utf-8"?)?$/i.test(type)) {
    return [{ message: 'the body must be application/json', code: 'invalid_content_type' }];
  }
  return body === undefined ? [{ message: 'the body must be a JSON object', code: 'invalid_json' }] : [];
}
