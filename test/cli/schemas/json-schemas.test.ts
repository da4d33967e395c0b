import { type Documents, SCHEMA_NAMES } from '../../../packages/cli/src/schema/command';
import { NO_MONEY } from '../../../src/domain/campaign/results';
import { type Billing } from '../../../src/domain/money';
import { DOCUMENTS, expectDocumented, problemsOf } from './documented';

type Name = keyof Documents;
type Json = { readonly [field: string]: unknown };

const at = '2026-01-02T03:04:05.000Z';
const sha256 = 'a'.repeat(64);
const artifact = { uri: `artifact:sha256/${sha256}`, mediaType: 'video/mp4', bytes: 7, sha256 };
const billing: Billing = {
  estimate: null,
  actual: 1,
  currency: 'USD',
  usage: { tokens: [1, null] },
  state: 'reserved',
};
const video = {
  taskId: 'task-1',
  model: null,
  durationSeconds: 5,
  resolution: '720p',
  referenceMode: 'none',
  account: 'default@00000000',
  polling: { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 3 },
  createdAt: at,
  source: 'create_reply',
} as const;
const watch = {
  lastStatus: 'queued',
  lastChangeAt: null,
  lastPollAt: at,
  polls: 2,
  lastError: { class: 'rate_limited', httpStatus: 429 },
} as const;
const completed: Documents['video-outcome'] = {
  outcome: 'completed',
  video,
  artifact,
  sidecar: null,
  requested: { model: null, durationSeconds: 5, resolution: null, referenceMode: null },
  reported: { fps: 24 },
  warnings: [],
  watch,
  billing,
};
const imagesLost: Documents['image-outcome'] = {
  outcome: 'results_lost',
  creationKey: 'k',
  images: [artifact, null],
  created: 1,
  reason: 'storage',
  message: 'm',
  fetchable: true,
  billing,
};
const state: Documents['video-state'] = {
  ...{ phase: 'watching', creationKey: 'k', taskId: 'task-1', video, watch, outcome: null },
  ...{ deadlineAt: at, nextPollAt: null, nextCreateAt: null, lastChangeAt: at, lastPollAt: null },
  ...{ waitingFor: null, sends: 1, polls: 2, lastHttpStatus: 200, consecutiveErrors: 0, estimate: null },
};
const row: Documents['campaign-row'] = {
  ...{ row: 0, line: 1, key: 'r', content: sha256, generation: 0, operation: 'create_video', model: 'm' },
  ...{
    outcome: 'completed',
    attempt: 1,
    taskId: 'task-1',
    account: null,
    warnings: [],
    polls: 1,
    attempts: 1,
  },
  requested: { durationSeconds: 5, resolution: null, referenceMode: null },
  ledger: [
    {
      ...{ attempt: 1, creationKey: 'k', taskId: 'task-1', outcome: 'completed' },
      ...{ estimate: 1, actual: 2, state: 'settled' },
    },
  ],
  ...{ startedAt: at, createdAt: null, finishedAt: at },
  files: [{ path: null, sha256, bytes: 7, mediaType: 'video/mp4' }],
  money: { ...NO_MONEY, settled: 1, currency: 'USD' },
};
const faults: Documents['faults'] = [
  { operation: 'poll', times: 2, action: { type: 'status', status: 503, headers: { 'retry-after': '1' } } },
  { operation: 'create', promptIncludes: 'x', action: { type: 'lose_reply', accepted: true, how: 'reset' } },
];

/** One value of each kind, by its type; the compiler refuses what is not of the type. */
const VALUES: readonly (readonly [name: Name, value: Documents[Name]])[] = [
  ['reply', { ok: false, data: { any: 1 }, error: { type: 't', message: 'm', hint: '' } }],
  ['event', { v: 1, type: 'check', at, name: 'node', state: 'skipped', message: 'm', dependsOn: 'models' }],
  ['event', { v: 1, type: 'state', at, workflowId: 'w', state }],
  ['event', { v: 1, type: 'result', at, ok: true }],
  ['video-outcome', completed],
  ['image-outcome', imagesLost],
  ['left-running', { as: 'workflow', workflowId: 'w', runId: 'r', isNew: false, state: null }],
  ['video-state', state],
  ['campaign-row', row],
  ['image-sidecar', { v: 1, workflowId: 'w', images: [{ ...artifact, file: 'a.png' }], billing }],
  ['faults', faults],
];

describe('the JSON Schemas that the build makes of types', () => {
  test('there is one for each document that no reader validates', () => {
    const names = Object.keys(SCHEMA_NAMES).filter(
      (name) => !['models', 'accounts', 'create-policy'].includes(name),
    );
    expect(Object.keys(DOCUMENTS).sort()).toEqual(names.sort());
  });

  test.each(VALUES)(
    '%s: a value of the type is valid, and may have fields of a later version',
    (name, value) => {
      expectDocumented(name, value);
      const later = Array.isArray(value)
        ? value.map((one: object) => ({ ...one, later: 1 }))
        : { ...(value as object), later: 1 };
      expect(problemsOf(DOCUMENTS[name], later)).toEqual([]);
    },
  );

  test.each<[Name, string, unknown]>([
    ['reply', 'no hint', { ok: false, error: { type: 't', message: 'm' } }],
    ['reply', 'a list of data', { ok: true, data: [] }],
    ['event', 'an unknown type', { v: 1, type: 'made_up', at }],
    ['event', 'another version', { v: 2, type: 'result', at, ok: true }],
    [
      'event',
      'a check in an unknown state',
      { v: 1, type: 'check', at, name: 'n', state: 'maybe', message: 'm' },
    ],
    ['video-outcome', 'an unknown outcome', { ...completed, outcome: 'done' }],
    ['video-outcome', 'no artifact', without(completed, 'artifact')],
    ['video-outcome', 'no artifact, and null', { ...completed, artifact: null }],
    [
      'video-outcome',
      'an unknown state of billing',
      { ...completed, billing: { ...billing, state: 'paid' } },
    ],
    ['video-outcome', 'a number in a text', { ...completed, video: { ...video, durationSeconds: '5' } }],
    [
      'image-outcome',
      'a lost image of a complete call',
      { ...imagesLost, outcome: 'completed', warnings: [] },
    ],
    ['image-outcome', 'an outcome of videos', completed],
    ['left-running', 'no run', { workflowId: 'w', isNew: true, state: null }],
    ['video-state', 'an unknown phase', { ...state, phase: 'paused' }],
    [
      'video-state',
      'an unknown class of error',
      { ...state, watch: { ...watch, lastError: { class: 'x' } } },
    ],
    ['campaign-row', 'an unknown outcome', { ...row, outcome: 'skipped' }],
    ['campaign-row', 'money without a currency', { ...row, money: without(row.money, 'currency') }],
    ['campaign-estimate', 'no plan', { dryRun: true, most: null }],
    ['image-sidecar', 'no name of a file', { v: 1, workflowId: 'w', images: [artifact], billing }],
    ['faults', 'an unknown action', [{ operation: 'poll', action: { type: 'made_up' } }]],
    ['faults', 'an action without its value', [{ operation: 'poll', action: { type: 'delay' } }]],
    ['faults', 'an unknown operation', [{ ...faults[0], operation: 'buy' }]],
  ])('%s refuses %s', (name, _what, value) => {
    expect(problemsOf(DOCUMENTS[name], value)).not.toEqual([]);
  });

  test('the comments of the types describe the fields, without what they cite for readers of the code', () => {
    const { description } = (DOCUMENTS['video-outcome'] as { $defs: { [name: string]: Json } }).$defs[
      'RequestedFacts'
    ] as Json;
    expect(description).toBe('The requested values, separate from those that the service reports.');
    const texts = JSON.stringify(DOCUMENTS);
    expect(texts).not.toMatch(/\(C\d|\(architecture|\(failure model|\(contract|\bADR \d|\{@/);
  });
});

function without(value: object, field: string): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));
}
