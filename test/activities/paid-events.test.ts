import { createPaidEvents, type EventLevel, type PaidEvents } from '../../src/activities/media-metrics';
import { type RecordedAnswer } from '../../src/domain/log-entries';
import { NO_METRICS } from '../../src/domain/metrics';
import { answers } from '../domain/create-answers';
import { eventually } from '../support/eventually';

type Line = readonly [level: EventLevel, message: string, facts: { readonly [name: string]: unknown }];

/** The line of the log that an event of a worker leaves. */
async function lineOf(happens: (events: PaidEvents) => void): Promise<Line> {
  const lines: Line[] = [];
  const events = createPaidEvents({
    metrics: NO_METRICS,
    log: (...line) => void lines.push(line),
    holdsSecret: () => Promise.resolve((id) => id.includes('secret')),
  });
  happens(events);
  await eventually('a line', async () => lines.length > 0);
  return lines[0] as Line;
}

const called = (answer: RecordedAnswer) => (events: PaidEvents) =>
  events.called({
    operation: 'create_video',
    creationKey: 'order-1',
    account: 'default',
    model: 'cine-1',
    isKnownModel: true,
    answer,
    isRecorded: false,
    isRepeated: false,
  });

const download =
  (result: string, givenUp?: string) =>
  (events: PaidEvents): void =>
    events.downloaded({ account: 'default', taskId: 'video_1', result, ...(givenUp && { givenUp }) });

describe('the line of a paid event', () => {
  it.each([
    ['an accepted create', called(answers.created(0)), 'INFO', undefined],
    ['a stored video', download('downloaded'), 'INFO', undefined],
    ['a create of unknown fate', called(answers.unconfirmed(0)), 'WARN', /adopt its task/],
    [
      'a create whose sender was lost',
      (events: PaidEvents) => events.lost('order-1', answers.unconfirmed(0), 'default'),
      'WARN',
      /adopt its task/,
    ],
    ['a video that cannot be kept', download('storage', 'storage'), 'ERROR', /Make room/],
    [
      'a file at a place that is not allowed',
      download('blocked', 'blocked'),
      'ERROR',
      /ALLOWED_MEDIA_ORIGINS/,
    ],
  ])('of %s has the level of what a person has to do, and says it', async (_, happens, level, remedy) => {
    const [said, , facts] = await lineOf(happens);
    expect(said).toBe(level);
    if (remedy === undefined) expect(facts).not.toHaveProperty('remedy');
    else expect(facts['remedy']).toMatch(remedy);
  });

  it('[C5.4a] shows no id that holds a secret', async () => {
    const [, , facts] = await lineOf((events) =>
      events.lost('secret-order', answers.unconfirmed(0), 'default'),
    );
    expect(facts['creationKey']).toBe('[removed]');
  });
});
