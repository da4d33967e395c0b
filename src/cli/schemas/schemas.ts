import { SCHEMA_NAMES, type SchemaName } from './schema-names';
import { z } from 'zod';
import { createPolicySchema } from '../../config';
import { modelConfigurationSchema } from '../../models/schema';
import { campaignEstimate, campaignResult, campaignRow, campaignState, manifestIssue } from './campaign';
import { faults } from './faults';
import { leftRunning } from './left-running';
import { imageOutcome, imageSidecar, time, videoOutcome, videoSidecar, videoState } from './outcomes';

const failure = z
  .object({
    type: z.string().describe('a type of docs/errors.md'),
    message: z.string(),
    hint: z.string().describe('what to do next'),
  })
  .describe('why the command did not succeed');

const data = z
  .record(z.string(), z.unknown())
  .describe('the result of the command; for a paid command its outcome with workflowId and files');

/** The one object that stdout holds with `-o json`. */
export const reply = z.object({
  ok: z.boolean(),
  data: z.exactOptional(data),
  error: z.exactOptional(failure),
});

const line = <Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) =>
  z.object({ v: z.literal(1), type: z.literal(type), at: time, ...fields });

/** One line of `-o jsonl`: events as they come, `result` last. */
export const event = z.discriminatedUnion('type', [
  line('started', {
    workflowId: z.string(),
    runId: z.string(),
    isNew: z.boolean().describe('false when it was attached to'),
    url: z.exactOptional(z.string()),
  }).describe('a workflow was started or attached to'),
  line('watching', { workflowId: z.string(), runId: z.exactOptional(z.string()) }).describe(
    '`watch` has found the workflow',
  ),
  line('state', { workflowId: z.string(), state: videoState }).describe('a video workflow has a new state'),
  line('campaign', { workflowId: z.string(), state: campaignState }).describe('a campaign has a new state'),
  line('issue', manifestIssue.shape).describe('a row of a manifest is not valid'),
  line('check', {
    name: z.string(),
    state: z.enum(['ok', 'warning', 'failed', 'skipped']),
    message: z.string(),
    remedy: z.exactOptional(z.string()),
    errorType: z.exactOptional(z.string()),
    dependsOn: z.exactOptional(z.string()),
  }).describe('`doctor` has finished a check'),
  line('result', reply.shape).describe('the answer; always the last line'),
]);

/** The schemas that the code validates with, or that tests compare with the types and the binary. */
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

/** JSON Schema, draft 2020-12, of what may be written or read; later versions may add fields. */
export function jsonSchemaOf(name: SchemaName): object {
  const { $schema, ...rest } = z.toJSONSchema(SCHEMAS[name], { target: 'draft-2020-12', io: 'input' });
  return { $schema, title: `temporal-media ${name}`, description: SCHEMA_NAMES[name], ...rest };
}
