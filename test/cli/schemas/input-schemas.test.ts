import { type Documents } from '../../../packages/cli/src/schema/command';
import { FIND_VIDEO_TASK_SHAPE } from '../../../src/domain/activities';
import { CAMPAIGN_SHAPE } from '../../../src/domain/campaign/plan';
import { type Shape, shapeIssue } from '../../../src/domain/shape';
import { RESOLVE_UNCONFIRMED_SHAPE, REVIEW_JOURNAL_SHAPE } from '../../../src/domain/unconfirmed-decision';
import {
  AWAIT_VIDEO_SHAPE,
  GENERATE_VIDEO_SHAPE,
  IMAGE_WORKFLOW_SHAPE,
} from '../../../src/domain/workflow-inputs';
import { DOCUMENTS, problemsOf } from './documented';

const image = { artifact: { uri: 'artifact:sha256/aa', mediaType: 'image/png', bytes: 1, sha256: 'aa' } };

/** A full input of each workflow, by its type, with the fields that the workflow accepts. */
const INPUTS: { readonly [Name in keyof Documents & `${string}-input`]: readonly [Shape, Documents[Name]] } =
  {
    'generate-video-input': [
      GENERATE_VIDEO_SHAPE,
      {
        request: {
          model: 'm',
          prompt: 'p',
          durationSeconds: 5,
          references: [{ kind: 'image', source: image }],
          fields: { seed: [1, null, { deep: 'x' }] },
        },
        creationKey: 'order-1',
        waitFor: '2 days',
        startLimit: 60_000,
        slowPolling: { after: '1h', interval: '1m' },
        policy: { on429: 'fail' },
        onUnconfirmed: 'wait',
        queues: { poll: 'q/poll' },
      },
    ],
    'await-video-input': [AWAIT_VIDEO_SHAPE, { video: { taskId: 't' }, waitFor: '1h', account: 'default' }],
    'generate-image-input': [
      IMAGE_WORKFLOW_SHAPE,
      { request: { model: 'm', prompt: 'p', n: 2 }, again: true },
    ],
    'edit-image-input': [
      IMAGE_WORKFLOW_SHAPE,
      {
        request: {
          model: 'm',
          prompt: 'p',
          images: [image, { file: 'a.png' }],
          mask: { url: 'https://a.b/c' },
        },
      },
    ],
    'resolve-unconfirmed-input': [
      RESOLVE_UNCONFIRMED_SHAPE,
      { creationKey: 'k', sendId: 's', decision: 'adopt', taskId: 't', by: 'me', reason: 'in the console' },
    ],
    'review-journal-input': [REVIEW_JOURNAL_SHAPE, { list: 'unconfirmed', after: null }],
    'find-video-task-input': [FIND_VIDEO_TASK_SHAPE, { taskId: 't', askService: true }],
    'run-campaign-input': [
      CAMPAIGN_SHAPE,
      {
        manifest: { source: { file: 'films.csv' }, format: 'csv' },
        budget: { microUnits: 1, currency: 'USD' },
        select: { rows: 'retry' },
      },
    ],
  };

type Properties = { readonly properties: { readonly [name: string]: object } };

describe.each(Object.entries(INPUTS))('%s', (name, [shape, value]) => {
  const schema = DOCUMENTS[name as keyof Documents];

  test('has the fields that the workflow accepts; what a run passes to its next is not among them', () => {
    const accepted = Object.keys(shape).filter((key) => key !== 'carried');
    expect(Object.keys((schema as Properties).properties).sort()).toEqual(accepted.sort());
  });

  test('accepts an input that the workflow accepts', () => {
    expect(shapeIssue(value, shape)).toBeUndefined();
    expect(problemsOf(schema, value)).toEqual([]);
  });

  test('refuses a misspelt field, as the workflow does', () => {
    const misspelt = { ...value, creationkey: 'k' };
    expect(shapeIssue(misspelt, shape)).toMatchObject({ field: 'creationkey' });
    expect(problemsOf(schema, misspelt)).toEqual([' must NOT have additional properties']);
  });

  test('refuses an empty input', () => {
    expect(problemsOf(schema, {})).not.toEqual([]);
  });
});

test.each<[keyof Documents, unknown]>([
  ['generate-video-input', { request: { model: 'm' } }],
  ['generate-video-input', { request: { model: 'm', prompt: 'p', seconds: 5 } }],
  ['generate-video-input', { request: { model: 'm', prompt: 'p' }, onUnconfirmed: 'again' }],
  ['await-video-input', { video: {} }],
  ['edit-image-input', { request: { model: 'm', prompt: 'p' } }],
  ['resolve-unconfirmed-input', { creationKey: 'k', sendId: 's', decision: 'forget', by: 'me', reason: 'r' }],
  ['review-journal-input', { list: 'all' }],
  ['video-adopt', { by: 'me' }],
  ['video-resubmit', { by: 'me' }],
  ['campaign-raise-budget', { budget: 5 }],
  ['campaign-adopt', { key: 'row', creationKey: 'k', sendId: 's', by: 'me', reason: 'r' }],
  ['video-resubmit', { by: 'me', reason: 'r' }],
])('%s refuses %j', (name, value) => {
  expect(problemsOf(DOCUMENTS[name], value)).not.toEqual([]);
});

test.each<[keyof Documents, unknown]>([
  ['video-adopt', { sendId: 's', taskId: 'task-1', by: 'me', reason: 'r' }],
  ['campaign-raise-budget', { budget: { microUnits: 5_000_000, currency: 'USD' } }],
  ['campaign-resume-rows', { select: { rows: 'again', outcomes: ['failed'] } }],
  ['campaign-update-result', { accepted: true, message: 'm', rows: 2 }],
  ['waits', [{ why: 'The account has no money.', until: 1, reason: 'quota', account: null }]],
])('%s accepts %j', (name, value) => {
  expect(problemsOf(DOCUMENTS[name], value)).toEqual([]);
});
