import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Timeline } from '@temporal-media/replay';
import { type ResultRecord } from '@temporal-media/report';
import { type FaultRule } from '@temporal-media/sandbox';
import { Argument, type Command } from 'commander';
import {
  type ArtifactStoreFacts,
  type AwaitVideoInput,
  type CallWait,
  type CampaignInput,
  type CampaignResult,
  type CampaignState,
  type CampaignUpdateResult,
  type CampaignUpdates,
  type EditImageWorkflowInput,
  type FindVideoTaskInput,
  type FoundVideoTask,
  type GenerateImageWorkflowInput,
  type GenerateVideoInput,
  type ImageOutcome,
  type ResolveUnconfirmedInput,
  type ResolveUnconfirmedResult,
  type ReviewJournalInput,
  type ReviewJournalPage,
  type VideoOutcome,
  type VideoState,
  type VideoUpdates,
} from 'temporal-media';
import { type VideoSidecar } from 'temporal-media/internal/activities/download-sidecar';
import { type ZodType } from 'zod';
import { type CommandContext } from '../shared/context';
import { CliError } from '../shared/errors';
import { type CampaignEstimate, type LeftRunning, type OutputLine, type Reply } from '../shared/json-output';
import { type ImageSidecar } from '../shared/output-files';
import { textTable } from '../shared/progress-view';
import { withOutputOptions } from '../shared/report';
import { nearNames } from '../shared/text';
import { type WhatIfReport } from '../whatif/scenario';

/** The schemas that `schema` can print. A name that ends in `-input` is a workflow's input. */
export const SCHEMA_NAMES = {
  models: 'the model configuration (MEDIA_MODELS)',
  accounts: "a worker's accounts (MEDIA_ACCOUNTS)",
  'create-policy': 'what the service guarantees about paid calls (MEDIA_CREATE_POLICY)',
  reply: 'the object that -o json prints on stdout',
  event: 'a line that -o jsonl prints on stdout',
  'generate-video-input': 'the input of the generateVideo workflow',
  'await-video-input': 'the input of the awaitVideo workflow',
  'video-outcome':
    'the outcome of a video: the result of its workflow (the `data` field of `video` and `resume`)',
  'generate-image-input': 'the input of the generateImage workflow',
  'edit-image-input': 'the input of the editImage workflow',
  'image-outcome':
    'the outcome of an image call: the result of its workflow (the `data` field of `image` and `edit`)',
  'left-running':
    'a call that is still running after --wait-for (the `data` field, with exit code 75 and no outcome)',
  'video-state':
    'the state of a running video: the answer to the video_state query (the `state` field of an event)',
  waits: 'paid calls that are waiting to be sent, and why: the answer to the waits query',
  'video-adopt': "the argument of a video workflow's adopt Update",
  'video-declare-lost': "the argument of a video workflow's declareLost Update",
  'video-resubmit': "the argument of a video workflow's resubmit Update",
  'resolve-unconfirmed-input': 'the input of the resolveUnconfirmed workflow',
  'resolve-unconfirmed-result': "the result of resolveUnconfirmed and of a video workflow's Updates",
  'review-journal-input': 'the input of the reviewJournal workflow',
  'review-journal-page': 'the result of the reviewJournal workflow',
  'find-video-task-input': 'the input of the findVideoTask workflow',
  'found-video-task': 'the result of the findVideoTask workflow',
  'artifact-store': 'the result of the artifactStore workflow',
  'run-campaign-input': 'the input of the runCampaign workflow',
  'campaign-estimate':
    'the plan for a manifest, with its cost (the `data` field of `campaign run --dry-run`)',
  'campaign-state':
    'the state of a running campaign: the answer to the campaign_state query (the `state` field of an event)',
  'campaign-result':
    'the outcome of a campaign: the result of its workflow (the `data` field of `campaign run`)',
  'campaign-row': "a line of results.jsonl in a campaign's report",
  'campaign-set-priority': "the argument of a campaign's setPriority Update",
  'campaign-set-concurrency': "the argument of a campaign's setConcurrency Update",
  'campaign-raise-budget': "the argument of a campaign's raiseBudget Update",
  'campaign-resume-rows': "the argument of a campaign's resumeRows Update",
  'campaign-adopt': "the argument of a campaign's adopt Update",
  'campaign-declare-lost': "the argument of a campaign's declareLost Update",
  'campaign-update-result': "the result of a campaign's Updates",
  sidecar: 'the JSON file beside a video',
  'image-sidecar': 'the JSON file beside images',
  timeline: 'what happened in a workflow (the `timeline` field of a `replay` target)',
  whatif:
    'a history and the result of running it against the sandbox (the `data` field of `replay --whatif`)',
  faults: 'a fault file for the sandbox (--faults)',
} as const;

/** Each document's type. The build generates JSON Schemas from these types (`scripts/json-schemas.js`, ADR 21). */
export interface Documents {
  readonly reply: Reply;
  readonly event: OutputLine;
  readonly 'generate-video-input': GenerateVideoInput;
  readonly 'await-video-input': AwaitVideoInput;
  readonly 'video-outcome': VideoOutcome;
  readonly 'generate-image-input': GenerateImageWorkflowInput;
  readonly 'edit-image-input': EditImageWorkflowInput;
  readonly 'image-outcome': ImageOutcome;
  readonly 'left-running': LeftRunning;
  readonly 'video-state': VideoState;
  readonly waits: readonly CallWait[];
  readonly 'video-adopt': VideoUpdates['adopt'];
  readonly 'video-declare-lost': VideoUpdates['declareLost'];
  readonly 'video-resubmit': VideoUpdates['resubmit'];
  readonly 'resolve-unconfirmed-input': ResolveUnconfirmedInput;
  readonly 'resolve-unconfirmed-result': ResolveUnconfirmedResult;
  readonly 'review-journal-input': ReviewJournalInput;
  readonly 'review-journal-page': ReviewJournalPage;
  readonly 'find-video-task-input': FindVideoTaskInput;
  readonly 'found-video-task': FoundVideoTask;
  readonly 'artifact-store': ArtifactStoreFacts;
  readonly 'run-campaign-input': CampaignInput;
  readonly 'campaign-estimate': CampaignEstimate;
  readonly 'campaign-state': CampaignState;
  readonly 'campaign-result': CampaignResult;
  readonly 'campaign-row': ResultRecord;
  readonly 'campaign-set-priority': CampaignUpdates['setPriority'];
  readonly 'campaign-set-concurrency': CampaignUpdates['setConcurrency'];
  readonly 'campaign-raise-budget': CampaignUpdates['raiseBudget'];
  readonly 'campaign-resume-rows': CampaignUpdates['resumeRows'];
  readonly 'campaign-adopt': CampaignUpdates['adopt'];
  readonly 'campaign-declare-lost': CampaignUpdates['declareLost'];
  readonly 'campaign-update-result': CampaignUpdateResult;
  readonly sidecar: VideoSidecar;
  readonly 'image-sidecar': ImageSidecar;
  readonly timeline: Timeline;
  readonly whatif: WhatIfReport;
  readonly faults: readonly FaultRule[];
}

export type SchemaName = keyof typeof SCHEMA_NAMES;

export function isSchemaName(name: string): name is SchemaName {
  return Object.hasOwn(SCHEMA_NAMES, name);
}

/**
 * Returns a JSON Schema, draft 2020-12. The schema of a workflow's input rejects unknown fields, as the workflow does.
 * All other schemas allow fields that later versions may add.
 */
export async function jsonSchemaOf(name: SchemaName): Promise<object> {
  if (name === 'models')
    return readBy(
      name,
      (await import('temporal-media/internal/settings/model-schema')).modelConfigurationSchema,
    );
  if (name === 'accounts')
    return readBy(name, (await import('temporal-media/internal/settings/accounts')).accountsSchema);
  if (name === 'create-policy')
    return readBy(name, (await import('temporal-media/internal/settings/config')).createPolicySchema);
  return JSON.parse(await readFile(join(__dirname, '..', 'schemas', `${name}.json`), 'utf8')) as object;
}

/** Converts the Zod schema that reads a document. It has bounds that a TypeScript type cannot express. */
async function readBy(name: SchemaName, reader: ZodType): Promise<object> {
  const { toJSONSchema } = await import('zod');
  const { $schema, ...rest } = toJSONSchema(reader, { target: 'draft-2020-12', io: 'input' });
  return { $schema, title: `temporal-media ${name}`, ...rest, description: SCHEMA_NAMES[name] };
}

/** Adds `schema`, which prints the JSON Schemas of the program's inputs and outputs. */
export function addSchemaCommand(program: Command, context: CommandContext): void {
  const argument = new Argument('[name]', 'name of the schema');
  // For help and completion only, because `schema` itself reports a wrong name and suggests similar ones.
  argument.argChoices = Object.keys(SCHEMA_NAMES);
  withOutputOptions(program.command('schema').addArgument(argument))
    .description('print the JSON Schema of a file or an output, or list all schemas')
    .addHelpText('after', HELP)
    .action(async (name: string | undefined) => schema(context, name));
}

const HELP = `
The schemas use JSON Schema draft 2020-12. Readers should ignore fields that a schema does not define.

Examples:
  $ temporal-media schema
  $ temporal-media schema models > models.schema.json
`;

async function schema({ report }: CommandContext, name: string | undefined): Promise<void> {
  if (name === undefined) {
    const schemas = Object.entries(SCHEMA_NAMES).map(([one, description]) => ({ name: one, description }));
    for (const line of textTable(schemas.map((one) => [one.name, one.description]))) report.result(line);
    report.reply({ ok: true, data: { schemas } });
    return;
  }
  if (!isSchemaName(name)) {
    const names = Object.keys(SCHEMA_NAMES);
    const near = nearNames(name, names);
    const hint =
      near.length === 0 ? `Available schemas: ${names.join(', ')}.` : `Did you mean: ${near.join(', ')}?`;
    throw new CliError('bad_input', `Schema ${name} does not exist.`, { hint });
  }
  const found = await jsonSchemaOf(name);
  for (const line of JSON.stringify(found, null, 2).split('\n')) report.result(line);
  report.reply({ ok: true, data: { name, schema: found } });
}
