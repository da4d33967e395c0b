import { attributesOf, goldenHistory, type GoldenEvent } from '../replay/golden-histories';

const POLL = 'media.pollVideos';
/** Timer, workflow task, activity, workflow task. */
const EVENTS_PER_TICK = 11;
const EVENTS_BESIDES = 25;

/** Completed videos to which nothing special happened, with the real activities. */
const PLAIN = [
  'generateVideo.completed',
  'generateVideo.completed-with-progress',
  'generateVideo.completed-own-key',
  'generateVideo.completed-with-references',
  'generateVideo.completed-as-child',
].map((name) => goldenHistory(`${name}.v1.json`));

describe('the events of a video', () => {
  it.each(PLAIN.map((history) => [history.file, history] as const))(
    '%s: every poll tick costs exactly 11 events, all the rest at most 25',
    (_file, history) => {
      const { events } = history.json;
      const ticks = events.filter((event) => activityType(event) === POLL).length;
      expect(ticks).toBeGreaterThan(0);
      const timers = attributesOf<{ timerId: string }>(history, 'timerFiredEventAttributes');
      // Each tick has one timer that fires; the limit of the create is cancelled instead.
      expect(timers).toHaveLength(ticks);
      expect(events.length - EVENTS_PER_TICK * ticks).toBeLessThanOrEqual(EVENTS_BESIDES);
    },
  );

  it('from one poll to the next there are exactly 11 events', () => {
    const gaps = PLAIN.flatMap(({ json }) => {
      const polls = json.events.filter((event) => activityType(event) === POLL);
      return polls.slice(1).map((event, index) => Number(event.eventId) - Number(polls[index]?.eventId));
    });
    expect(gaps.length).toBeGreaterThan(1);
    expect(new Set(gaps)).toEqual(new Set([EVENTS_PER_TICK]));
  });
});

function activityType(event: GoldenEvent): string | undefined {
  const scheduled = event['activityTaskScheduledEventAttributes'] as
    | { readonly activityType: { readonly name: string } }
    | undefined;
  return scheduled?.activityType.name;
}
