import { type ImageOutcome } from '../../src/domain/outcome';
import { imageDetails, videoDetails, type VideoState } from '../../src/domain/video-state';
import {
  beginWatch,
  onMissedTick,
  onPollError,
  onRecord,
  onUnchanged,
  pollFacts,
} from '../../src/domain/watch-state';
import { makeVideoTask } from './make-video-task';

const START = Date.UTC(2026, 0, 1);
const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString();
const video = makeVideoTask();
const started = beginWatch({ video, now: START, deadlineAt: START + 900_000, firstPollAt: START });
const answered = onRecord(started, { status: 'in_progress', phase: 'in_progress' }, 'd1', START + 4_000);
const refused = (state: typeof started, seconds: number) =>
  onPollError(state, { error: 'credentials', httpStatus: 401 }, START + seconds * 1000, 3_000, 0);

const state: VideoState = {
  phase: 'watching',
  creationKey: 'order-7',
  taskId: video.taskId,
  video,
  estimate: null,
  deadlineAt: at(900),
  nextPollAt: at(12),
  nextCreateAt: null,
  waitingFor: null,
  sends: 0,
  ...pollFacts(onUnchanged(answered, START + 8_000)),
  outcome: null,
};

describe('what a watch tells about its polls', () => {
  it('nothing before the first', () => {
    const none = {
      lastChangeAt: null,
      lastPollAt: null,
      polls: 0,
      lastHttpStatus: null,
      consecutiveErrors: 0,
    };
    expect(pollFacts(undefined)).toEqual({ watch: null, ...none });
    expect(pollFacts(started)).toMatchObject(none);
  });

  it('a change and a poll are told apart', () => {
    expect(pollFacts(onUnchanged(answered, START + 8_000))).toMatchObject({
      lastChangeAt: at(4),
      lastPollAt: at(8),
      polls: 2,
      lastHttpStatus: 200,
      consecutiveErrors: 0,
    });
  });

  it('errors in a row with the status of the last, until a record comes', () => {
    const twice = refused(refused(answered, 8), 68);
    expect(pollFacts(twice)).toMatchObject({ lastHttpStatus: 401, consecutiveErrors: 2, polls: 3 });
    expect(pollFacts(onUnchanged(twice, START + 128_000))).toMatchObject({
      lastHttpStatus: 200,
      consecutiveErrors: 0,
    });
  });

  it('no status where the service was not reached', () => {
    const network = onPollError(answered, { error: 'network' }, START + 8_000, 3_000, 0);
    expect(pollFacts(network)).toMatchObject({ lastHttpStatus: null, consecutiveErrors: 1 });
    expect(pollFacts(onMissedTick(answered, START + 8_000))).toMatchObject({
      lastHttpStatus: null,
      consecutiveErrors: 0,
      watch: { lastError: { class: 'worker_unavailable' } },
    });
  });
});

describe('the details panel of a video', () => {
  it('shows the facts of the query line by line', () => {
    expect(videoDetails(state).split('\n')).toEqual([
      '**Watching: in_progress**',
      '',
      expect.stringMatching(/not make this call under another id.*`temporal-media status`/),
      '',
      `- task: \`${video.taskId}\``,
      `- account: \`${video.account}\``,
      '- creation key: `order-7`',
      `- deadline: ${at(900)}`,
      `- next poll: ${at(12)}`,
      `- polls: 2, most recently at ${at(8)} with HTTP 200`,
      `- last change: ${at(4)}`,
    ]);
  });

  it('[C2.2.4] shows a percentage only when the service sent a number', () => {
    expect(videoDetails(state)).not.toContain('%');
    const progress = { ...answered, progress: 40 };
    expect(videoDetails({ ...state, ...pollFacts(progress) })).toContain('**Watching: in_progress, 40%**');
  });

  it('names the trouble and how often it came', () => {
    const facts = pollFacts(refused(refused(answered, 8), 68));
    expect(videoDetails({ ...state, ...facts })).toContain('- trouble: credentials, 2 times in a row');
  });

  it('shows texts of others as code that no link, heading or second line can come out of', () => {
    const hostile = '`](https://x.example/?sig=1)\n# heading\u2028';
    const word = onRecord(started, { status: 'see https://x.example/?sig=1', phase: 'unknown' }, 'd', START);
    const text = videoDetails({
      ...state,
      ...pollFacts(word),
      taskId: hostile,
      creationKey: `${hostile}${'x'.repeat(999)}`,
      waitingFor: hostile,
    });
    expect(text).toContain('**Watching: an unusual status**');
    expect(text.split(/[\n\u2028]/).filter((line) => line.startsWith('#'))).toEqual([]);
    for (const line of text.split('\n').filter((one) => one.includes('://'))) {
      expect(line).toMatch(/^- [a-z ]+: `[^`]*`$/);
      expect(line.length).toBeLessThan(160);
    }
  });

  it('is written whatever an untyped caller calls an account', () => {
    const account = 5 as unknown as string;
    expect(videoDetails({ ...state, video: { ...video, account } })).toContain('- account: `5`');
  });

  it('ends with the outcome', () => {
    expect(videoDetails({ ...state, phase: 'done', outcome: 'completed' })).toContain('**Done: completed**');
  });
});

describe('the details panel of an image call', () => {
  const ended = (outcome: ImageOutcome['outcome']) => imageDetails('order-8', { outcome });

  it('names the key and warns of another one while the call is under way', () => {
    const text = imageDetails('order-8', null);
    expect(text).toContain('**Calling the service**');
    expect(text).toContain('- creation key: `order-8`');
    expect(text).toMatch(/not make this call under another id/);
  });

  it.each(['completed', 'results_lost', 'unconfirmed', 'rejected', 'cancelled'] as const)(
    'ends with %s, and says where it is said what is safe',
    (outcome) => {
      expect(ended(outcome)).toMatch(new RegExp(`^\\*\\*Done: ${outcome}\\*\\*\\n\\n[A-Z].{20,}\\.\\n`));
    },
  );
});
