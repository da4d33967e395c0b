import { type LogEntry } from '@temporalio/worker';
import { type LogFormat, redactedSink } from '../../packages/cli/src/worker/text';

const SECRET = 'key-"quoted"-open-sesame';

function linesOf(format: LogFormat, meta: Record<string, unknown>, message = 'Activity failed'): string {
  const written: Buffer[] = [];
  const entry = { level: 'WARN', timestampNanos: 1_500_000_000n, message, meta } as LogEntry;
  redactedSink(
    format,
    () => [SECRET],
    (line) => void written.push(line),
  )(entry);
  return Buffer.concat(written).toString();
}

describe('lines of the log', () => {
  const json = (meta: Record<string, unknown>, message?: string) =>
    JSON.parse(linesOf('json', meta, message)) as Record<string, unknown>;

  it('text has the time, the level and the facts', () => {
    expect(linesOf('text', { attempt: 2 })).toBe(
      '1970-01-01T00:00:01.500Z [WARN] Activity failed { attempt: 2 }\n',
    );
  });

  it('JSON is one object on one line, whatever the facts are', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const error = new TypeError('two\nlines', { cause: new Error('deeper') });
    for (const meta of [{}, { error, n: 1n, at: [1, { b: null }] }, circle])
      expect(linesOf('json', meta).match(/\n/g)).toHaveLength(1);
    expect(json({ error })).toMatchObject({
      time: '1970-01-01T00:00:01.500Z',
      level: 'WARN',
      message: 'Activity failed',
      error: { name: 'TypeError', message: 'two\nlines', cause: { message: 'deeper' } },
    });
    expect(json({ level: 'of the user', message: 'another' })).toMatchObject({
      level: 'WARN',
      message: 'Activity failed',
    });
  });

  it('[C5.4a] [C5.4b] neither form shows a key, a cookie or a signed address', () => {
    const facts = {
      cookie: 'session=open-sesame',
      [SECRET]: 'a name',
      deep: [{ authorization: 'Bearer open-sesame', text: `was ${SECRET}.` }],
      url: 'https://media.example/a.mp4?Signature=open-sesame&Expires=1',
      error: new Error(`refused ${SECRET}`),
    };
    for (const format of ['text', 'json'] as const)
      expect(linesOf(format, facts, `about ${SECRET}`)).not.toMatch(/open-sesame|Bearer/);
    expect(json(facts)).toMatchObject({ deep: [{ text: 'was [removed].' }], cookie: '[removed]' });
  });
});
