import {
  attributesOf,
  goldenHistory,
  payloadValue,
  type GoldenEvent,
  type PayloadJson,
} from '../replay/golden-histories';

interface TimerStarted {
  readonly timerId: string;
  readonly startToFireTimeout: string;
}

interface Scheduled {
  readonly activityType: { readonly name: string };
  readonly input: { readonly payloads: readonly PayloadJson[] };
  readonly [option: string]: unknown;
}

const history = (name: string) => goldenHistory(`${name}.v1.json`);
/** Milliseconds of a protojson duration such as `4.250s`. */
const ms = (duration: unknown): number => Math.round(Number(String(duration).replace(/s$/, '')) * 1000);
const timers = (name: string): number[] =>
  attributesOf<TimerStarted>(history(name), 'timerStartedEventAttributes').map((timer) =>
    ms(timer.startToFireTimeout),
  );
const at = (event: GoldenEvent): number => Date.parse(event.eventTime);

/** Times at which activities of this type were scheduled. */
function scheduledAt(name: string, type: string): number[] {
  return history(name)
    .json.events.filter(
      (event) =>
        (event['activityTaskScheduledEventAttributes'] as Scheduled | undefined)?.activityType.name === type,
    )
    .map(at);
}

function scheduled(name: string, type: string): Scheduled {
  const found = attributesOf<Scheduled>(history(name), 'activityTaskScheduledEventAttributes').find(
    (attributes) => attributes.activityType.name === type,
  );
  if (found === undefined) throw new Error(`${name} schedules no ${type}`);
  return found;
}

/** The watch that a continue-as-new carried on. */
function carriedWatch(name: string): { startedAt: number; deadlineAt: number; notBefore: number } {
  const [end] = attributesOf<{ readonly input: { readonly payloads: readonly PayloadJson[] } }>(
    history(name),
    'workflowExecutionContinuedAsNewEventAttributes',
  );
  const input = payloadValue(end?.input.payloads[0]) as {
    carried: { state: { startedAt: number; deadlineAt: number; notBefore: number } };
  };
  return input.carried.state;
}

/** Rules about minutes, read from timers and state that the real server kept. */
describe('times in golden histories', () => {
  it('[C8.5] a wait for which nothing was asked has its deadline 15 minutes after the creation', () => {
    const { startedAt, deadlineAt } = carriedWatch('generateVideo.continued-watching-run1');
    expect(deadlineAt - startedAt).toBe(15 * 60_000);
  });

  it('[C8.5] the deadline survives every continue-as-new unchanged', () => {
    const first = carriedWatch('generateVideo.continued-watching-run1');
    const second = carriedWatch('generateVideo.continued-watching-run2');
    expect(second.deadlineAt).toBe(first.deadlineAt);
  });

  it('the limit of a create outlasts its start limit and its activity: 24 h + 1050 s + 30 s', () => {
    expect(timers('generateVideo.completed')[0]).toBe((24 * 3600 + 1050 + 30) * 1000);
  });

  it('[C4.4a] the create activity has one attempt, heartbeats every 10 s at most, and has room for any entry', () => {
    const create = scheduled('generateVideo.completed', 'media.createVideo');
    expect(create['retryPolicy']).toMatchObject({ maximumAttempts: 1 });
    expect(ms(create['startToCloseTimeout'])).toBe(1_050_000);
    expect(ms(create['heartbeatTimeout'])).toBe(10_000);
    expect(ms(create['scheduleToStartTimeout'])).toBe(24 * 3600 * 1000);
  });

  it('[C3.5] [C8.2] the first poll waits as the model says, and every later timer keeps to 3 to 5 s', () => {
    const [, first, ...later] = timers('generateVideo.completed-with-progress');
    expect(first).toBe(4000);
    expect(later.length).toBeGreaterThan(1);
    const polls = scheduledAt('generateVideo.completed-with-progress', 'media.pollVideos');
    const gaps = polls.slice(1).map((time, index) => time - (polls[index] as number));
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(3000);
    for (const timer of later) expect(timer).toBeLessThanOrEqual(5000);
  });

  it('[C8.7] Retry-After of a poll is a lower bound of the time to the next one', () => {
    const polls = scheduledAt('generateVideo.completed-after-retry-after', 'media.pollVideos');
    expect((polls[1] as number) - (polls[0] as number)).toBeGreaterThanOrEqual(7000);
  });

  it('[C8.7] so it is across a continue-as-new', () => {
    const { notBefore } = carriedWatch('generateVideo.continued-in-retry-after-run1');
    const [next] = scheduledAt('generateVideo.continued-in-retry-after-run2', 'media.pollVideos');
    expect(notBefore).toBeGreaterThan(0);
    expect(next).toBeGreaterThanOrEqual(notBefore);
  });

  it('[C7.5] [C8.7] a refused create is sent again no sooner than Retry-After says', () => {
    const name = 'generateVideo.completed-after-refusal';
    const [refusal] = attributesOf<{ readonly result: { readonly payloads: readonly PayloadJson[] } }>(
      history(name),
      'activityTaskCompletedEventAttributes',
    ).map(({ result }) => payloadValue(result.payloads[0]) as { outcome: string; notBefore: string });
    const [, second] = scheduledAt(name, 'media.createVideo');
    expect(refusal).toMatchObject({ outcome: 'refused_for_now' });
    expect(second).toBeGreaterThanOrEqual(Date.parse(refusal?.notBefore ?? ''));
  });

  it('[C7.2] a task is unknown only after three answers in a row over a minute', () => {
    const polls = scheduledAt('awaitVideo.task-unknown', 'media.pollVideos');
    expect(polls.length).toBeGreaterThanOrEqual(3);
    expect((polls.at(-1) as number) - (polls[0] as number)).toBeGreaterThanOrEqual(60_000);
  });
});
