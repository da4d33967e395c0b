import { allStatusWords } from '../dialect';
import { type SandboxMode } from '../sandbox-options';
import { type JsonSchema, object, someText } from './json-schema';

const integer: JsonSchema = { type: 'integer' };
const text: JsonSchema = { type: 'string' };
const url: JsonSchema = { type: 'string', minLength: 1 };
const percent = { type: 'number', minimum: 0, maximum: 100 };
const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });

/** Seconds, tokens or a cost; absent for some models, which does not mean free. */
const usage: JsonSchema = {
  anyOf: [
    object({ duration_seconds: integer }, ['duration_seconds']),
    object({ completion_tokens: integer, total_tokens: integer }, ['completion_tokens', 'total_tokens']),
    object({ cost: { type: 'number' } }, ['cost']),
  ],
};

/** The contract shows no shape of an error: object, text or null, or fields of other names beside it. */
const failure = {
  error: { type: ['object', 'string', 'null'] },
  failureCode: text,
  fail_reason: text,
};

/** Every place of the result URL; at most one of them is there (contract 2.2: its name is not shown). */
const links = {
  url,
  output_url: url,
  video_url: url,
  result_url: url,
  output_path: text,
  metadata: object({ url }, ['url']),
  urls: { type: 'array', items: url },
  output: { type: 'array', items: url },
  video: object({ url }, ['url']),
  assets: object({ video: url }, ['video']),
  content: object({ video_url: url }, ['video_url']),
  data: { type: 'object', properties: { video_url: url, result_url: url }, minProperties: 1 },
};

const id: JsonSchema = { type: 'string', minLength: 1, maxLength: 32 };

/** The record of a task (contract 2.2). Only id and status are there whatever the options of the sandbox. */
export function videoRecordSchema(mode: SandboxMode): JsonSchema {
  return mode === 'strict' ? strictRecord : compatRecord;
}

const strictRecord = object(
  {
    id,
    status: { enum: ['queued', 'in_progress', 'completed', 'failed'] },
    progress: percent,
    object: { const: 'video' },
    model: someText,
    created_at: integer,
    completed_at: integer,
    resolution: text,
    seconds: { type: ['integer', 'string'] },
    fps: integer,
    usage,
    ...failure,
    ...links,
  },
  ['id', 'status'],
);

const published = {
  id,
  object: { const: 'video' },
  created_at: integer,
  completed_at: orNull(integer),
  error: failure.error,
  expires_at: orNull(integer),
  model: someText,
  progress: orNull(percent),
  prompt: text,
  remixed_from_video_id: { type: 'null' },
  seconds: { type: 'string', pattern: '^[0-9]+$' },
  size: { type: 'string', pattern: '^[0-9]+x[0-9]+$' },
  status: { enum: allStatusWords() },
};

/** Every key of the published videos API is there. */
const compatRecord = object(
  { ...published, ...failure, ...links, task_id: id, usage: orNull(usage) },
  Object.keys(published),
);
