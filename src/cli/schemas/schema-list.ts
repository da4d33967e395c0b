import { z } from 'zod';
import { createPolicySchema } from '../../config';
import { modelConfigurationSchema } from '../../models/schema';
import { campaignEstimate, campaignResult, campaignRow, campaignState } from './campaign';
import { faults } from './faults';
import { imageOutcome } from './image-outcome';
import { event, reply } from './reply';
import { SCHEMA_NAMES, type SchemaName } from './schema-names';
import { leftRunning } from './left-running';
import { imageSidecar, videoSidecar } from './sidecar';
import { videoOutcome } from './video-outcome';
import { videoState } from './video-state';

/** The schemas that the code itself reads by, or that tests hold the types and the binary to. */
export const SCHEMAS = {
  models: modelConfigurationSchema,
  'create-policy': createPolicySchema,
  reply,
  event,
  'video-outcome': videoOutcome,
  'image-outcome': imageOutcome,
  'left-running': leftRunning,
  'video-state': videoState,
  'campaign-estimate': campaignEstimate,
  'campaign-state': campaignState,
  'campaign-result': campaignResult,
  'campaign-row': campaignRow,
  sidecar: videoSidecar,
  'image-sidecar': imageSidecar,
  faults,
} as const satisfies { readonly [Name in SchemaName]: z.ZodType };

/** JSON Schema, draft 2020-12, of what may be written or read; fields that are not named may come with a later version. */
export function jsonSchemaOf(name: SchemaName): object {
  const { $schema, ...rest } = z.toJSONSchema(SCHEMAS[name], { target: 'draft-2020-12', io: 'input' });
  return { $schema, title: `temporal-media ${name}`, description: SCHEMA_NAMES[name], ...rest };
}
