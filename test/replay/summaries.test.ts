import { goldenHistory, payloadValue, type GoldenEvent, type PayloadJson } from './golden-histories';

/** Recorded histories in which every timer and every activity says what it is for; none holds a prompt (C5.4c). */
describe.each([
  'generateVideo.completed-with-summaries.v1.json',
  'generateVideo.cancelled-recorded-elsewhere.v1.json',
])('%s', (file) => {
  const history = goldenHistory(file);
  const planned = history.json.events.filter(
    (event) => 'timerStartedEventAttributes' in event || 'activityTaskScheduledEventAttributes' in event,
  );

  it('has a summary on every timer and every activity', () => {
    expect(planned.length).toBeGreaterThan(4);
    expect(planned.map(summaryOf)).toEqual(
      planned.map(() => expect.stringMatching(/^[a-z][a-z0-9, ]+$/) as string),
    );
  });

  it('has no summary with a word of the prompt', () => {
    expect(planned.map(summaryOf).join(' ')).not.toMatch(/paper|boat|lake/);
  });
});

function summaryOf(event: GoldenEvent): unknown {
  return payloadValue((event['userMetadata'] as { readonly summary?: PayloadJson } | undefined)?.summary);
}
