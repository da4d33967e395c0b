import { type Info } from '@temporalio/activity';
import { createImageCall } from '../../src/activities/image-call';
import { type PaidDeps } from '../../src/activities/paid-context';
import { NO_JOURNAL } from '../../src/domain/journal';
import { type ImageOutcome } from '../../src/domain/outcome';
import { type WaitingImage } from '../../src/domain/paid-call';
import { makePng } from '../stores/artifacts/make-media';
import { type LogBench, openLogBench } from './log-bench';

const IMAGES = { created: 7, data: [{ b64_json: makePng(3, 2).toString('base64') }] };
const MINUTE = 60_000;

/** An activity without a workflow waits by its own attempts, until its start limit (ADR 37). */
describe('an image call without a workflow', () => {
  let bench: LogBench;
  beforeEach(async () => {
    bench = await openLogBench();
    bench.replies = [{ status: 200, body: IMAGES }];
  });
  afterEach(() => bench.close());

  const since = Date.now();
  const generate = (
    attempt: number,
    { startLimit = '1h', ...info }: Partial<Info> & { readonly startLimit?: string } = {},
    changes: Partial<PaidDeps> = {},
  ): Promise<ImageOutcome | WaitingImage> =>
    standalone({
      attempt,
      activityId: 'order-1',
      activityRunId: 'run-1',
      startToCloseTimeoutMs: 480_000,
      scheduledTimestampMs: since,
      currentAttemptScheduledTimestampMs: since + (attempt - 1) * 1_000,
      // As the server reports a policy without a limit.
      retryPolicy: { maximumAttempts: 0 },
      ...info,
    }).run(createImageCall('generate_image', bench.deps(changes)), {
      request: { model: 'm', prompt: 'a kite' },
      startLimit,
    });
  /** The SDK's environment always has a workflow. */
  const standalone = (info: Partial<Info>) => {
    const environment = bench.environment(info);
    Object.assign(environment.context.info, {
      inWorkflow: false,
      workflowExecution: undefined,
      workflowNamespace: undefined,
    });
    return environment;
  };
  const failing = (...given: Parameters<typeof generate>): Promise<unknown> =>
    generate(...given).catch((error: unknown) => error);
  const waitsAs = (name: string) => ({ nonRetryable: false, details: [{ class: name }] });
  const down = () => ({ journal: { ...bench.journal, read: () => Promise.reject(new Error('EIO')) } });

  it('[C4.4c] waits with growing pauses while its journal is away, and then nobody knows', async () => {
    const failures = await Promise.all([1, 2, 8].map((attempt) => failing(attempt, {}, down())));
    for (const failure of failures) expect(failure).toMatchObject(waitsAs('journal_unavailable'));
    const [, second, eighth] = failures as { readonly nextRetryDelay: number }[];
    expect(eighth!.nextRetryDelay).toBeGreaterThanOrEqual(second!.nextRetryDelay / 4);
    const late = { startLimit: '1s', currentAttemptScheduledTimestampMs: since + 5 * MINUTE };
    expect(await generate(2, late, down())).toMatchObject({
      outcome: 'unconfirmed',
      billing: { state: 'needs_review' },
    });
    expect(await generate(3)).toMatchObject({ outcome: 'completed' });
    expect(bench.posts()).toBe(1);
  });

  it('[C7.3] asks again after a refusal that a person has fixed, and says why it waits', async () => {
    bench.replies = [{ status: 401 }, { status: 200, body: IMAGES }];
    // A call that has waited for another one's refusal does not end with it.
    expect(await failing(2)).toMatchObject({
      details: [{ class: 'refused', waits: { reason: 'credentials' } }],
    });
    expect(await generate(3)).toMatchObject({ outcome: 'completed' });
    expect(bench.posts()).toBe(2);
  });

  it('[C4.4a] counts refusals by what it has sent, not by its attempts', async () => {
    bench.replies = [...Array.from({ length: 5 }, () => ({ status: 429 })), { status: 200, body: IMAGES }];
    // The first attempts have waited for something else.
    for (const attempt of [7, 8, 9, 10])
      expect(await failing(attempt)).toMatchObject(waitsAs('refused_for_now'));
    expect(await generate(11)).toMatchObject({ outcome: 'rejected', reason: 'retry_later' });
    expect(bench.posts()).toBe(5);
  });

  it('without a journal is refused with what to do, not failed', async () => {
    const outcome = await generate(1, {}, { journal: NO_JOURNAL });
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'unsafe_retry_policy' });
    expect(bench.posts()).toBe(0);
  });
});
