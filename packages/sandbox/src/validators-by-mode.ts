import {
  compatGeneration,
  validateCompatEdit,
  validateCompatGeneration,
  validateCompatVideo,
} from './compat';
import { type Exchange } from './exchange';
import { type JsonObject } from './json-value';
import { sandboxModels } from './models';
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
  video: (exchange, body) => [
    ...validateJson(exchange, body),
    ...(body ? validateVideo(body, sandboxModels) : []),
  ],
  generation: (exchange, body) => [
    ...validateJson(exchange, body),
    ...(body ? validateGeneration(body, sandboxModels) : []),
  ],
  edit: (_exchange, parts) => (parts === undefined ? noMultipart : validateEdit(parts, sandboxModels)),
  read: (exchange) => {
    const { headers } = exchange.request;
    const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
    return hasBody ? [{ message: 'this request must not have a body', code: 'unexpected_body' }] : [];
  },
};

/** Accepts what published clients send. */
const compat: RequestValidator = {
  video: (exchange, body) =>
    body === undefined || !exchange.request.isMultipart()
      ? [...validateJson(exchange, body), ...(body ? validateCompatVideo(body) : [])]
      : validateCompatVideo(body),
  generation: (exchange, body) => [
    ...validateJson(exchange, body),
    ...(body ? validateCompatGeneration(compatGeneration(body)) : []),
  ],
  edit: (_exchange, parts) => (parts === undefined ? noMultipart : validateCompatEdit(parts)),
  read: () => [],
};

/** Each mode's validator. */
export const requestValidators: Record<SandboxMode, RequestValidator> = { strict, compat };

function validateJson(exchange: Exchange, body: JsonObject | undefined): Violation[] {
  const type = exchange.request.headers['content-type'] ?? '';
  if (!/^application\/json(;\s*charset="?utf-8"?)?$/i.test(type)) {
    return [{ message: 'the body must be application/json', code: 'invalid_content_type' }];
  }
  return body === undefined ? [{ message: 'the body must be a JSON object', code: 'invalid_json' }] : [];
}
