import { Writable } from 'node:stream';
import { elapsed, progressView } from '../../packages/cli/src/shared/progress-view';
import { Report } from '../../packages/cli/src/shared/report';
import { type VideoState } from '../../src/domain/video-state';

const facts = { lastStatus: 'in_progress', lastChangeAt: null, lastPollAt: null, polls: 1 };
const state = (watch: object, phase: VideoState['phase'] = 'watching') =>
  ({ phase, video: null, watch: { ...facts, ...watch } }) as unknown as VideoState;

/** A terminal that keeps what is written to it. */
class Screen extends Writable {
  text = '';
  readonly rows = 30;
  constructor(
    readonly isTTY: boolean,
    readonly columns = 100,
  ) {
    super();
  }
  // What cli-progress asks of a terminal.
  clearLine = (): boolean => true;
  cursorTo = (): boolean => true;
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

const onTerminal = (columns?: number): { screen: Screen; view: ReturnType<typeof progressView> } => {
  const screen = new Screen(true, columns);
  return { screen, view: progressView(new Report(), screen as unknown as NodeJS.WriteStream) };
};

/** Without a terminal: a line for each change. */
const linesOf = (...states: readonly VideoState[]): string[] => {
  const lines: string[] = [];
  const report = { say: (line: string) => void lines.push(line), attach: () => undefined };
  const view = progressView(report as unknown as Report, new Screen(false) as unknown as NodeJS.WriteStream);
  for (const one of states) view.update(one);
  view.stop();
  return lines;
};

describe('the progress of a wait', () => {
  it('says the whole of a long id once, and a part of it in every line', () => {
    const taskId = `video_${'0123456789'.repeat(15)}`;
    const of = (lastStatus: string) => ({ ...state({ lastStatus }), taskId });
    const [whole, ...lines] = linesOf(of('queued'), of('in_progress'), of('odd'));
    expect(whole).toBe(`task ${taskId}`);
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      expect(line).toMatch(/^task video_01234567890123…23456789: /);
      expect(line.length).toBeLessThan(80);
    }
    expect(linesOf({ ...state({}), taskId: 'video_1' })).toEqual([expect.stringContaining('task video_1: ')]);
  });

  it('says why the last poll brought nothing in the words of the service', () => {
    const lastError = {
      class: 'unavailable',
      httpStatus: 500,
      reason: { kind: 'moderation', code: 'guardrail', message: 'Guardrail blocked the prompt' },
    };
    expect(linesOf(state({ lastError })).join()).toContain(
      '(last poll: unavailable 500: Guardrail blocked the prompt)',
    );
  });

  const { TERM } = process.env;
  beforeAll(() => {
    process.env['TERM'] = 'xterm';
  });
  afterAll(() => {
    if (TERM === undefined) delete process.env['TERM'];
    else process.env['TERM'] = TERM;
  });

  test('[C2.2.4] a bar only while the service sends a percentage', () => {
    const { screen, view } = onTerminal();
    view.update(state({}));
    view.stop();
    expect(screen.text).toContain('in_progress');
    expect(screen.text).not.toMatch(/[█░%]/);
    const other = onTerminal();
    other.view.update(state({ progress: 40 }));
    other.view.stop();
    expect(other.screen.text).toMatch(/█{12}░{18} task unknown: in_progress 40%/);
  });

  test.each([
    [60, /█{4}░{6} task /],
    [48, /^[^█░]*task /],
  ])('%i columns hold the percentage and the time; the bar gives way', (columns, shown) => {
    const { screen, view } = onTerminal(columns);
    view.update({ ...state({ progress: 40 }), taskId: 'video_0123456789abcd' });
    view.stop();
    expect(screen.text).toMatch(shown);
    expect(screen.text).toMatch(/in_progress 40% {2}0:0\d/);
  });

  test('elapsed time is beside the status', () => {
    const { screen, view } = onTerminal();
    view.update(state({}));
    view.stop();
    expect(screen.text).toMatch(/in_progress {2}0:0\d/);
  });

  test('a further try is in the line with the reason of the last one, until the state changes', () => {
    const { screen, view } = onTerminal();
    view.update(state({}, 'downloading'));
    view.tries('try 2, the last one failed: HTTP 503');
    view.stop();
    expect(screen.text).toMatch(/downloading, try 2, the last one failed: HTTP 503 {2}0:0/);
    const said: string[] = [];
    const report = new Report();
    report.say = (line) => void said.push(line);
    const plain = progressView(report, new Screen(false) as unknown as NodeJS.WriteStream);
    plain.tries('try 2, the last one failed: HTTP 429');
    plain.tries(undefined);
    plain.update(state({}, 'done'));
    plain.tries('try 3');
    plain.stop();
    expect(said).toEqual([expect.stringMatching(/^try 2, the last one failed: HTTP 429 \(0:0\d\)$/)]);
  });

  test('without a terminal a plain line for every change, and none for the same state again', () => {
    const said: string[] = [];
    const report = new Report();
    report.say = (line) => void said.push(line);
    const view = progressView(report, new Screen(false) as unknown as NodeJS.WriteStream);
    view.update(state({}));
    view.update(state({ polls: 2 }));
    view.update(state({ progress: 40 }));
    view.update(state({}, 'done'));
    view.stop();
    expect(said).toEqual([
      expect.stringMatching(/^task unknown: in_progress \(0:0\d\)$/),
      expect.stringMatching(/^task unknown: in_progress 40% \(0:0\d\)$/),
    ]);
  });
});

test.each([
  [7_400, '0:07'],
  [765_000, '12:45'],
  [10_965_000, '3:02:45'],
  [183_765_000, '2 d 3:02:45'],
  [86_400_000, '1 d 0:00:00'],
  [-5, '0:00'],
])('%i ms are %s', (ms, text) => {
  expect(elapsed(ms)).toBe(text);
});
