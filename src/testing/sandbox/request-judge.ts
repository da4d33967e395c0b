import { type Exchange } from './exchange';
import { compatGeneration, judgeCompatEdit, judgeCompatGeneration, judgeCompatVideo } from './compat';
import { judgeEdit, judgeGeneration } from './judge-image';
import { judgeVideo, type Violation } from './judge-video';
import { type JsonObject } from './json-value';
import { sandboxModels } from './models';
import { type SandboxMode } from './options';
import { type SandboxPart } from './sandbox-request';

/** What a mode of the sandbox says about requests. */
export interface RequestJudge {
  video(exchange: Exchange, body: JsonObject | undefined): Violation[];
  generation(exchange: Exchange, body: JsonObject | undefined): Violation[];
  edit(exchange: Exchange, parts: SandboxPart[] | undefined): Violation[];
  /** Requests without a body: polls and downloads. */
  read(exchange: Exchange): Violation[];
}

const noMultipart: Violation[] = [
  { message: 'an edit must be multipart/form-data', code: 'invalid_content_type' },
];

const strict: RequestJudge = {
  video: (exchange, body) => [...judgeJson(exchange, body), ...(body ? judgeVideo(body, sandboxModels) : [])],
  generation: (exchange, body) => [
    ...judgeJson(exchange, body),
    ...(body ? judgeGeneration(body, sandboxModels) : []),
  ],
  edit: (_exchange, parts) => (parts === undefined ? noMultipart : judgeEdit(parts, sandboxModels)),
  read: (exchange) => {
    const { headers } = exchange.request;
    const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
    return hasBody ? [{ message: 'this request must not have a body', code: 'unexpected_body' }] : [];
  },
};

/** Takes what published clients send. */
const compat: RequestJudge = {
  video: (exchange, body) =>
    body === undefined || !exchange.request.isMultipart()
      ? [...judgeJson(exchange, body), ...(body ? judgeCompatVideo(body) : [])]
      : judgeCompatVideo(body),
  generation: (exchange, body) => [
    ...judgeJson(exchange, body),
    ...(body ? judgeCompatGeneration(compatGeneration(body)) : []),
  ],
  edit: (_exchange, parts) => (parts === undefined ? noMultipart : judgeCompatEdit(parts)),
  read: () => [],
};

/** The judge of each mode. */
export const requestJudges: Record<SandboxMode, RequestJudge> = { strict, compat };

function judgeJson(exchange: Exchange, body: JsonObject | undefined): Violation[] {
  const type = exchange.request.headers['content-type'] ?? '';
  if (!/^application\/json(;\s*charset="?utf-8"?)?$/i.test(type)) {
    return [{ message: 'the body must be application/json', code: 'invalid_content_type' }];
  }
  return body === undefined ? [{ message: 'the body must be a JSON object', code: 'invalid_json' }] : [];
}
