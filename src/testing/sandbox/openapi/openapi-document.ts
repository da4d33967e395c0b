import { type JsonObject } from '../json-value';
import { type SandboxMode } from '../sandbox-options';
import { errorSchema } from './error-schema';
import { imageEditSchema, imageGenerationSchema, imageReplySchema } from './image-schemas';
import { ref } from './json-schema';
import { freeSchemas } from './local-path-schema';
import { openapiPaths } from './openapi-paths';
import { videoCreateSchema } from './video-create-schema';
import { videoRecordSchema } from './video-record-schema';

const summaries: Record<SandboxMode, string> = {
  strict:
    'The service of the contract: what it takes is what the contract and the live model configuration allow.',
  compat:
    'The same service for published clients: multipart creates, numbers as texts, nulls and unknown fields; each model answers in a dialect of its own.',
};

/**
 * The OpenAPI 3.1 document of a mode. Requests follow from the model catalog, records and errors from the dialects;
 * what a schema cannot say (order of multipart parts, Base64 that decodes) is left out.
 */
export function openapiDocument(mode: SandboxMode, baseUrl = 'http://127.0.0.1:8088'): JsonObject {
  // A copy: readers of such documents replace references in place.
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
        Error: { description: 'An error, or a fault that a test asked for.', ...json('Error') },
        Busy: {
          description: 'A passing condition (contract 7).',
          headers: { 'Retry-After': { schema: { type: 'string' } } },
          ...json('Error'),
        },
      },
    },
  });
}

function json(name: string): JsonObject {
  return { content: { 'application/json': { schema: ref(name) } } };
}
