import { z } from 'zod';
import { createPolicySchema } from '../../config';
import { modelConfigurationSchema } from '../../models/schema';
import { faults } from './faults';
import { imageOutcome } from './image-outcome';
import { event, reply } from './reply';
import { imageSidecar, videoSidecar } from './sidecar';
import { videoOutcome } from './video-outcome';
import { videoState } from './video-state';

/** What `schema` can print: name, what it describes, and the schema that the code itself reads or a test compares. */
export const SCHEMAS = {
  models: ['the model configuration (MEDIA_MODELS)', modelConfigurationSchema],
  'create-policy': ['what is vouched for about paid calls (MEDIA_CREATE_POLICY)', createPolicySchema],
  reply: ['the one object on stdout with -o json', reply],
  event: ['one line on stdout with -o jsonl', event],
  'video-outcome': ['how a video ends: the result of its workflow, `data` of video and resume', videoOutcome],
  'image-outcome': [
    'how an image call ends: the result of its workflow, `data` of image and edit',
    imageOutcome,
  ],
  'video-state': ['what a running video tells: the query video_state, `state` of an event', videoState],
  sidecar: ['the JSON file beside a video', videoSidecar],
  'image-sidecar': ['the JSON file beside images', imageSidecar],
  faults: ['a fault file of the sandbox (--faults)', faults],
} as const satisfies { readonly [name: string]: readonly [about: string, schema: z.ZodType] };

export type SchemaName = keyof typeof SCHEMAS;

export function isSchemaName(name: string): name is SchemaName {
  return Object.hasOwn(SCHEMAS, name);
}

/** JSON Schema, draft 2020-12, of what may be written or read; fields that are not named may come with a later version. */
export function jsonSchemaOf(name: SchemaName): object {
  const [description, schema] = SCHEMAS[name];
  const { $schema, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
  return { $schema, title: `temporal-media ${name}`, description, ...rest };
}
