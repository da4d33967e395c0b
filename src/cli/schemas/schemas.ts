import { z } from 'zod';
import { createPolicySchema } from '../../config';
import { modelConfigurationSchema } from '../../models/schema';
import { campaignEstimate, campaignResult, campaignRow, campaignState, manifestIssue } from './campaign';
import { faults } from './faults';
import { leftRunning } from './left-running';
import { imageOutcome, imageSidecar, time, videoOutcome, videoSidecar, videoState } from './outcomes';

/** What `schema` can print, and what each describes. */
export const SCHEMA_NAMES = {
  models: 'the model configuration (MEDIA_MODELS)',
  'create-policy': 'what is vouched for about paid calls (MEDIA_CREATE_POLICY)',
  reply: 'the one object on stdout with -o json',
  event: 'one line on stdout with -o jsonl',
  'video-outcome': 'how a video ends: the result of its workflow, `data` of video and resume',
  'image-outcome': 'how an image call ends: the result of its workflow, `data` of image and edit',
  'left-running': 'what --wait-for leaves running: `data` with exit code 75 where there is no outcome yet',
  'video-state': 'what a running video tells: the query video_state, `state` of an event',
  'campaign-estimate': 'what a manifest comes to and may cost: `data` of campaign run --dry-run',
  'campaign-state': 'what a running campaign tells: the query campaign_state, `state` of an event',
  'campaign-result': 'how a campaign ends: the result of its workflow, `data` of campaign run',
  'campaign-row': 'one line of results.jsonl in the report of a campaign',
  sidecar: 'the JSON file beside a video',
  'image-sidecar': 'the JSON file beside images',
  faults: 'a fault file of the sandbox (--faults)',
} as const;

type SchemaName = keyof typeof SCHEMA_NAMES;

export function isSchemaName(name: string): name is SchemaName {
  return Object.hasOwn(SCHEMA_NAMES, name);
}

const failure = z
  .object({
    type: z.string().describe('a type of docs/errors.md'),
    message: z.string(),
    hint: z.string().describe('what to do next'),
  })
  .describe('why the command did not succeed');

const data = z
  .record(z.string(), z.unknown())
  .describe('what the command is about; of a paid command its outcome with workflowId and files');

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
