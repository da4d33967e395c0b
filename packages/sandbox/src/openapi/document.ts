import { type JsonObject } from '../json-value';
import { type SandboxMode } from '../options';
import {
  freeSchemas,
  imageEditSchema,
  imageGenerationSchema,
  imageReplySchema,
  type JsonSchema,
  object,
  ref,
  videoCreateSchema,
  videoRecordSchema,
} from './schemas';

const json = (name: string): JsonObject => ({ 'application/json': { schema: ref(name) } });
const multipart = (name: string): JsonObject => ({ 'multipart/form-data': { schema: ref(name) } });
const error = { $ref: '#/components/responses/Error' };
const busy = { $ref: '#/components/responses/Busy' };
const denied = { 401: error, 403: error, 429: busy, 503: busy, default: error };
const taskId = { name: 'task_id', in: 'path', required: true, schema: { type: 'string', maxLength: 512 } };
const range = { name: 'Range', in: 'header', schema: { type: 'string' } };
/** The sandbox has only this one of the published variants. */
const variant = { name: 'variant', in: 'query', schema: { enum: ['video'] } };
const tag = { ETag: { schema: { type: 'string' } } };

/** Returns the replies with a whole file or a range. */
const bytes = (mediaType: string): JsonObject => ({
  200: { description: 'The whole file.', headers: tag, content: { [mediaType]: {} } },
  206: { description: 'The requested range.', headers: tag, content: { [mediaType]: {} } },
  416: { description: 'The range is not satisfiable.' },
});

/** Returns the operations of contract 4, and the files that image replies link to (contract 2.5). */
function openapiPaths(mode: SandboxMode): JsonObject {
  const failed = {
    description: 'An error or, for some models, the record of a failed task.',
    content: { 'application/json': { schema: { anyOf: [ref('VideoRecord'), ref('Error')] } } },
  };
  return {
    '/v1/videos': {
      post: operation('createVideo', 'Creates a video task. Send it only once.', {
        requestBody: {
          required: true,
          content: { ...json('VideoCreate'), ...(mode === 'compat' ? multipart('VideoCreate') : {}) },
        },
        responses: { 200: record('Accepted.'), 400: error, ...denied },
      }),
    },
    '/v1/videos/{task_id}': {
      parameters: [taskId],
      get: operation('getVideo', "Returns a task's record.", {
        responses: {
          200: record('The record.'),
          400: error,
          404: error,
          ...denied,
          ...(mode === 'compat' ? { 422: failed, 500: failed } : {}),
        },
      }),
    },
    '/v1/videos/{task_id}/content': {
      parameters: [taskId],
      get: operation('getVideoContent', "Downloads a completed task's video.", {
        parameters: mode === 'compat' ? [range, variant] : [range],
        responses: {
          ...bytes('video/mp4'),
          302: {
            description: 'The file is at another address.',
            headers: { Location: { schema: { type: 'string' } } },
          },
          400: error,
          404: error,
          409: error,
          422: error,
          ...denied,
        },
      }),
    },
    '/v1/images/generations': {
      post: operation('generateImage', 'Generates images from a prompt.', {
        requestBody: { required: true, content: json('ImageGeneration') },
        responses: {
          200: { description: 'The results.', content: json('ImageReply') },
          400: error,
          ...denied,
        },
      }),
    },
    '/v1/images/edits': {
      post: operation('editImage', 'Edits images.', {
        requestBody: { required: true, content: multipart('ImageEdit') },
        responses: {
          200: { description: 'The results.', content: json('ImageReply') },
          400: error,
          ...denied,
        },
      }),
    },
    '/generated/{file}': {
      parameters: [{ name: 'file', in: 'path', required: true, schema: { type: 'string' } }],
      get: operation('getGeneratedFile', 'Downloads an image until it expires.', {
        parameters: [range],
        security: [],
        responses: { ...bytes('image/png'), 404: error, default: error },
      }),
    },
  };
}

function operation(operationId: string, summary: string, rest: JsonObject): JsonObject {
  return { operationId, summary, ...rest };
}

function record(description: string): JsonObject {
  return { description, content: json('VideoRecord') };
}

const summaries: Record<SandboxMode, string> = {
  strict: "The contract's service. It accepts what the contract and the live model configuration allow.",
  compat:
    'The same service for published clients. It accepts multipart creates, numbers as strings, nulls and unknown fields, and each model replies in its own dialect.',
};

/**
 * Returns the OpenAPI 3.1 document for a mode. Request schemas are derived from the model catalog, and the schemas for
 * records and errors from the dialects. Leaves out rules that a schema cannot express (order of multipart parts, Base64
 * that decodes).
 */
export function openapiDocument(mode: SandboxMode, baseUrl = 'http://127.0.0.1:8088'): JsonObject {
  // A copy, because tools that read such documents resolve references in place.
  return structuredClone({
    openapi: '3.1.1',
    info: {
      title: `Video and image generation, sandbox in ${mode} mode`,
      version: '1',
      description: summaries[mode],
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '{base_url}', variables: { base_url: { default: baseUrl } } }],
    security: [{ key: [] }],
    paths: openapiPaths(mode),
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: {
        VideoCreate: videoCreateSchema(mode),
        VideoRecord: videoRecordSchema(mode),
        ImageGeneration: imageGenerationSchema(mode),
        ImageEdit: imageEditSchema(mode),
        ImageReply: imageReplySchema(mode),
        Error: errorSchema(mode),
        File: { type: 'string', contentMediaType: 'application/octet-stream' },
        ...freeSchemas,
      },
      responses: {
        Error: { description: 'An error, or a fault that a test requested.', ...answerOf('Error') },
        Busy: {
          description: 'A temporary condition (contract 7).',
          headers: { 'Retry-After': { schema: { type: 'string' } } },
          ...answerOf('Error'),
        },
      },
    },
  });
}

function answerOf(name: string): JsonObject {
  return { content: { 'application/json': { schema: ref(name) } } };
}

const text: JsonSchema = { type: 'string', minLength: 1 };
const textOrNull: JsonSchema = { type: ['string', 'null'] };

const nested = object(
  {
    error: object({ message: text, type: text, param: textOrNull, code: textOrNull }, [
      'message',
      'type',
      'param',
      'code',
    ]),
  },
  ['error'],
  { title: 'nested' },
);
const flat = object({ code: text, message: text, data: { type: 'null' } }, ['code', 'message', 'data'], {
  title: 'flat',
});
const entry = object({ loc: { type: 'array', items: { type: 'string' } }, msg: text, type: text }, [
  'loc',
  'msg',
  'type',
]);
const detail = object({ detail: { type: 'array', items: entry, minItems: 1 } }, ['detail'], {
  title: 'detail',
});

/** Returns the schema of an error reply's body. The contract does not define it (section 7). */
export function errorSchema(mode: SandboxMode): JsonSchema {
  return mode === 'strict' ? nested : { oneOf: [nested, flat, detail] };
}
