/** What `schema` can print, and what each describes. */
export const SCHEMA_NAMES = {
  models: 'the model configuration (MEDIA_MODELS)',
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

export type SchemaName = keyof typeof SCHEMA_NAMES;

export function isSchemaName(name: string): name is SchemaName {
  return Object.hasOwn(SCHEMA_NAMES, name);
}
