import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ZodType } from 'zod';
import { type VideoSidecar } from '../activities/download-sidecar';
import { type CampaignResult, type CampaignState } from '../domain/campaign/campaign-state';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { type VideoState } from '../domain/video-state';
import { type ResultRecord } from '../report/result-record';
import { type FaultRule } from '../testing/sandbox/faults';
import { type CampaignEstimate, type LeftRunning, type OutputLine, type Reply } from './json-output';
import { type ImageSidecar } from './save-results';

/** What `schema` can print, and what each describes. */
export const SCHEMA_NAMES = {
  models: 'the model configuration (MEDIA_MODELS)',
  accounts: 'the accounts of a worker (MEDIA_ACCOUNTS)',
  'create-policy': 'what is vouched for about paid calls (MEDIA_CREATE_POLICY)',
  reply: 'the one object on stdout with -o json',
  event: 'one line on stdout with -o jsonl',
  'video-outcome': 'how a video ends: the result of its workflow, `data` of video and resume',
  'image-outcome': 'how an image call ends: the result of its workflow, `data` of image and edit',
  'left-running': 'what --wait-for leaves running: `data` with exit code 75 where there is no outcome yet',
  'video-state': 'the state of a running video: the query video_state, `state` of an event',
  'campaign-estimate': 'the plan of a manifest and its cost: `data` of campaign run --dry-run',
  'campaign-state': 'the state of a running campaign: the query campaign_state, `state` of an event',
  'campaign-result': 'how a campaign ends: the result of its workflow, `data` of campaign run',
  'campaign-row': 'one line of results.jsonl in the report of a campaign',
  sidecar: 'the JSON file beside a video',
  'image-sidecar': 'the JSON file beside images',
  faults: 'a fault file of the sandbox (--faults)',
} as const;

/** The type of each document; the build makes the JSON Schemas of these types (`scripts/json-schemas.js`, ADR 21). */
export interface Documents {
  readonly reply: Reply;
  readonly event: OutputLine;
  readonly 'video-outcome': VideoOutcome;
  readonly 'image-outcome': ImageOutcome;
  readonly 'left-running': LeftRunning;
  readonly 'video-state': VideoState;
  readonly 'campaign-estimate': CampaignEstimate;
  readonly 'campaign-state': CampaignState;
  readonly 'campaign-result': CampaignResult;
  readonly 'campaign-row': ResultRecord;
  readonly sidecar: VideoSidecar;
  readonly 'image-sidecar': ImageSidecar;
  readonly faults: readonly FaultRule[];
}

export type SchemaName = keyof typeof SCHEMA_NAMES;

export function isSchemaName(name: string): name is SchemaName {
  return Object.hasOwn(SCHEMA_NAMES, name);
}

/** JSON Schema, draft 2020-12, of what may be written or read; later versions may add fields. */
export async function jsonSchemaOf(name: SchemaName): Promise<object> {
  const { $schema, description: _ofType, ...rest } = await schemaOf(name);
  return { $schema, title: `temporal-media ${name}`, description: SCHEMA_NAMES[name], ...rest };
}

type JsonSchema = { readonly [keyword: string]: unknown };

async function schemaOf(name: SchemaName): Promise<JsonSchema> {
  if (name === 'models') return validatedBy((await import('../models/schema.js')).modelConfigurationSchema);
  if (name === 'accounts') return validatedBy((await import('../accounts/accounts-file.js')).accountsSchema);
  if (name === 'create-policy') return validatedBy((await import('../config.js')).createPolicySchema);
  const made = await readFile(join(__dirname, 'schemas.json'), 'utf8');
  return (JSON.parse(made) as { readonly [Name in keyof Documents]: JsonSchema })[name];
}

/** What is validated when it is read has the schema of its reader, with bounds that no type expresses. */
async function validatedBy(reader: ZodType): Promise<JsonSchema> {
  const { toJSONSchema } = await import('zod');
  return toJSONSchema(reader, { target: 'draft-2020-12', io: 'input' });
}
