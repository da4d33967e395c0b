import { type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import fc from 'fast-check';
import { NO_MONEY } from '../../src/domain/campaign/results';
import { WORKFLOW } from '../../src/domain/names';
import { isObject } from '../../src/domain/shape';
import { DEFAULT_POLLING } from '../../src/domain/video-task';
import { MEDIA_WORKFLOWS } from '../../src/worker/join-bundle';
import { makeVideoTask } from '../domain/make-video-task';
import { firstTask } from '../support/first-task';
import { ORDERS, placesOf, withValue } from '../support/odd-values';
import '../support/quiet-temporal';
import { connectTestServer, type TestServer } from '../support/temporal';
import { testBundle } from '../support/test-bundle';

jest.setTimeout(600_000);

const queues = { create: 'q', poll: 'q', download: 'q', image: 'q' };
const policy = { on429: 'fail', idempotency: { header: 'Idempotency-Key' } };
const money = NO_MONEY;
const sha256 = 'a'.repeat(64);
const results = {
  v: 1,
  generation: 0,
  indexes: [sha256],
  segments: [sha256],
  counts: { failed: 1 },
  money,
  currency: 'USD',
};
const paid = {
  account: 'default',
  creationKey: 'order-1',
  startLimit: '1h',
  policy,
  refuseWhileUnconfirmed: true,
  again: true,
  queues,
};
const wait = { waitFor: '15m', slowPolling: { after: '1h', interval: 60_000 }, polling: 'shared' };

/** An input of each workflow with all of its fields: what people store, and hand back with something changed. */
const INPUTS: { readonly [type: string]: { readonly [field: string]: unknown } } = {
  [WORKFLOW.generateVideo]: {
    ...paid,
    ...wait,
    request: {
      model: 'cine-1',
      prompt: 'a kite',
      references: [{ kind: 'image', source: { url: 'https://h.invalid' } }],
    },
    onUnconfirmed: 'wait',
    sidecarPrompt: 'include',
    carried: { v: 1, phase: 'watching', creationKey: null, created: null, state: {} },
  },
  [WORKFLOW.awaitVideo]: {
    ...wait,
    account: 'default',
    queues,
    sidecarPrompt: 'omit',
    video: { ...makeVideoTask(), polling: DEFAULT_POLLING },
    carried: { v: 1, phase: 'watching', state: {} },
  },
  [WORKFLOW.generateImage]: { ...paid, request: { model: 'image-2', prompt: 'a kite', n: 1 } },
  [WORKFLOW.editImage]: {
    ...paid,
    request: { model: 'image-2', prompt: 'a kite', images: [{ file: 'a.png' }] },
  },
  [WORKFLOW.findVideoTask]: { taskId: 'task-1', account: 'default', askService: true },
  [WORKFLOW.artifactStore]: {},
  [WORKFLOW.resolveUnconfirmed]: {
    creationKey: 'order-1',
    decision: 'adopt',
    taskId: 'task-1',
    by: 'me',
    reason: 'seen',
    taskQueue: 'q',
  },
  [WORKFLOW.reviewJournal]: {
    list: 'decided',
    creationKey: 'order-1',
    after: null,
    since: '2026-11-25T10:00:00Z',
    taskQueue: 'q',
  },
  [WORKFLOW.runCampaign]: {
    manifest: { source: { file: 'm.csv' }, format: 'csv' },
    concurrency: 3,
    budget: { microUnits: 1, currency: 'USD' },
    onInvalid: 'skip',
    rebuyChanged: true,
    select: { rows: 'again', outcomes: ['failed'], keys: ['one'] },
    limit: 1,
    sample: 1,
    waitFor: '1h',
    maxAttempts: 2,
    account: 'default',
    policy,
    queues,
    priority: 1,
    fairnessWeight: 1,
    eventsPerRun: 60,
    rowsPerBatch: 10,
    previous: { ...results, plans: [{ generation: 0, index: sha256 }] },
    carried: { v: 1, plan: null, results, queue: [], selections: [] },
  },
  [WORKFLOW.campaignBatch]: {
    campaign: 'spring',
    campaignRun: 'run',
    batch: 0,
    rows: [{ index: sha256, page: 0, generation: 0, size: 2, rows: '3', started: 1 }],
    settings: { waitForMs: 1_000, maxAttempts: 1, queues, eventsPerRun: 60, account: 'default', policy },
    orders: ORDERS,
    limits: { 'default cine-1': 0.5 },
  },
  [WORKFLOW.watchVideos]: {
    pollQueue: 'q',
    slow: { afterMs: 1_000, intervalMs: 60_000 },
    eventsPerRun: 60,
    carried: { lastTickAt: 0, intervalMs: 0, watches: [], untold: [] },
  },
};

/** What is odd in the place of anything: of a wrong type, of no size, or too large for a server or a timer. */
const odd = fc.oneof(
  { arbitrary: fc.jsonValue({ maxDepth: 2, noUnicodeString: false }), weight: 3 },
  fc.constantFrom<unknown>(
    null,
    {},
    [],
    [null],
    '',
    '..',
    'q'.repeat(1_200),
    '/_sys/q',
    '\ud800',
    '100 years',
    -1,
    0,
    0.05,
    1e308,
    Number.MAX_SAFE_INTEGER,
    JSON.parse('{"__proto__": {"taskId": "t"}}'),
    Array.from({ length: 10_000 }, () => ({})),
  ),
);

/** The input as it is, without some of its fields, or with something odd in one place at any depth. */
function inputOf(whole: object): fc.Arbitrary<unknown> {
  const places = placesOf(whole).map(([place]) => place);
  const changed = fc
    .record({ left: fc.subarray(Object.keys(whole)), place: fc.nat(), value: odd, isPart: fc.nat(5) })
    .map(({ left, place, value, isPart }) => {
      const fields = Object.entries(whole).filter(([field]) => isPart > 0 || left.includes(field));
      const part = Object.fromEntries(fields);
      const at = places[place % Math.max(1, places.length)];
      return at === undefined ? value : withValue(part, at, value);
    })
    .filter((input) => !isObject(input) || Object.keys(input).length > 0);
  // A run of its own for what only continue-as-new sets: it would hide all other fields.
  const usual = changed.map((input) => {
    if (!isObject(input)) return input;
    const { carried: _carried, ...rest } = input;
    return rest;
  });
  return fc.oneof({ arbitrary: usual, weight: 10 }, changed, odd);
}

/** Inputs that are tried at once, each with its own workflow. */
const TOGETHER = 10;

/** People store inputs, and hand them back from programs without types. */
describe('any JSON as the input of a workflow', () => {
  let server: TestServer;
  let taskQueue: string;
  let worker: Worker;
  let ended: Promise<void>;

  beforeAll(async () => {
    server = await connectTestServer();
    taskQueue = server.uniqueId('odd');
    // Without activities: what is bought, or waited for, is none of this test.
    worker = await Worker.create({
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue,
      workflowBundle: await testBundle(),
    });
    ended = worker.run();
  });

  afterAll(async () => {
    worker.shutdown();
    await ended;
    await server.close();
  });

  it('there is an input of every workflow of the package', () => {
    expect(Object.keys(INPUTS).sort()).toEqual([...MEDIA_WORKFLOWS].sort());
  });

  it.each(MEDIA_WORKFLOWS)(
    '%s ends with an outcome or a failure, or continues: its first workflow task never fails',
    async (type) => {
      const whole = INPUTS[type] ?? {};
      await fc.assert(
        fc.asyncProperty(
          fc.array(inputOf(whole), { minLength: TOGETHER, maxLength: TOGETHER }),
          async (inputs) => {
            await Promise.all(inputs.map((input) => endsOrContinues(type, input)));
          },
        ),
        { numRuns: 20 },
      );
    },
  );

  async function endsOrContinues(type: string, input: unknown): Promise<void> {
    const handle: WorkflowHandle = await server.client.workflow.start(type, {
      taskQueue,
      workflowId: server.uniqueId('odd'),
      args: [input],
    });
    const { fault, state, failure } = await firstTask(handle);
    if (state === 'waits') await handle.terminate();
    expect(fault).toBeNull();
    // The message names what is wrong, for somebody who has no types.
    if (failure !== null)
      expect(failure).toEqual({
        type: 'InvalidInput',
        message: expect.stringMatching(/^\S+ (?:must|is not a known field)/) as string,
      });
  }

  it.each([
    ['null', null],
    ['{}', {}],
    ['a twentieth of a second', { minSeconds: 0.05, maxSeconds: 0.1, firstPollSeconds: 0 }],
  ])('a stored task whose polling is %s is refused, and the field is named', async (_name, polling) => {
    const input = { video: { ...makeVideoTask(), polling } };
    const started = server.client.workflow.execute(WORKFLOW.awaitVideo, {
      taskQueue,
      workflowId: server.uniqueId('odd'),
      args: [input],
    });
    const refused: unknown = await started.catch((error: unknown) => error);
    expect(refused).toMatchObject({
      cause: {
        type: 'InvalidInput',
        nonRetryable: true,
        message: expect.stringMatching(/^video\.polling/) as string,
      },
    });
  });
});
