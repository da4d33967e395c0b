import path from 'node:path';
import '../support/quiet-temporal';
import { readHistoryFile } from '../../packages/replay/src/read-history';
import { replayHistories } from '../../packages/replay/src/replay-histories';
import { type Verdict } from '../../packages/replay/src/verdict';
import { type BrokenCopy, brokenCopy, type Change } from './broken-copy';

const GOLDEN = path.resolve(__dirname, '..', 'golden');

/** What must be found in one history. */
interface Row {
  readonly history: string;
  readonly event: { readonly eventId: number; readonly summary: string };
  readonly produced: { readonly kind: string; readonly name?: string; readonly summary?: string };
  /** Where the code does that: the first place of this text in this file. */
  readonly at: readonly [file: string, text: string];
}

interface Kind {
  readonly what: string;
  readonly changes: readonly Change[];
  readonly rows: readonly Row[];
}

const timerBefore = (file: string, statement: string): Change => ({
  file,
  find: statement,
  replace: `await pause(1234); ${statement}`,
  imports: "import { sleep as pause } from '@temporalio/workflow';\n",
});

const timer = (history: string, eventId: number, summary: string, file: string, statement: string): Row => ({
  history,
  event: { eventId, summary },
  produced: { kind: 'timer' },
  at: [file, `pause(1234); ${statement}`],
});

const ADDED: readonly (readonly [
  history: string,
  eventId: number,
  summary: string,
  file: string,
  statement: string,
])[] = [
  ['generateVideo.completed', 24, 'download', 'workflows/await-video.ts', 'const file = end.downloaded ??'],
  ['awaitVideo.content-unavailable', 5, 'poll 1 video', 'workflows/await-video.ts', 'return waitForVideo('],
  [
    'findVideoTask.found',
    5,
    'look the task up',
    'workflows/client-requests.ts',
    'return activity(ACTIVITY.findVideoTask',
  ],
  [
    'resolveUnconfirmed.adopted',
    5,
    'adopt',
    'workflows/client-requests.ts',
    'return activity(ACTIVITY.resolveUnconfirmed',
  ],
  [
    'reviewJournal.listed',
    5,
    'list unconfirmed',
    'workflows/client-requests.ts',
    'return activity(ACTIVITY.reviewJournal',
  ],
  [
    'artifactStore.named',
    5,
    'name the artifact store',
    'workflows/client-requests.ts',
    'return activity(ACTIVITY.artifactStore',
  ],
  [
    'generateImage.completed',
    5,
    'generate image',
    'workflows/image-call.ts',
    'const outcome = await imageCall(',
  ],
  [
    'runCampaign.completed',
    5,
    'read the manifest',
    'workflows/campaign/run-campaign.ts',
    'return await plan(',
  ],
  [
    'campaignBatch.completed',
    5,
    'open page 0',
    'workflows/campaign/campaign-batch.ts',
    'const opened = await this.runOpenPage(open.set);',
  ],
];

const renamed = (history: string, summary: string, name: string, file: string, text: string): Row => ({
  history,
  event: { eventId: 5, summary },
  produced: { kind: 'activity', name: `film.${name}`, summary },
  at: [file, text],
});

/** Lets other code issue its commands first. */
const LATER = 'for (let turn = 0; turn < 50; turn += 1) await null;';

const swapped = (
  history: string,
  summary: string,
  produced: Row['produced'],
  file: string,
  text: string,
): Row => ({ history, event: { eventId: 5, summary }, produced, at: [file, text] });

/** Careless changes of each kind, all of a kind in one copy of the workflow code. */
const KINDS: readonly Kind[] = [
  {
    what: 'a timer was added',
    changes: ADDED.map(([, , , file, statement]) => timerBefore(file, statement)),
    rows: [
      ...ADDED.map((one) => timer(...one)),
      timer(
        'editImage.completed',
        5,
        'edit image',
        'workflows/image-call.ts',
        'const outcome = await imageCall(',
      ),
    ],
  },
  {
    what: 'the activities were renamed',
    changes: [{ file: 'domain/names.ts', find: "'media.", replace: "'film.", all: true }],
    rows: [
      renamed('generateVideo.completed', 'create', 'createVideo', 'workflows/create-once.ts', 'create({'),
      renamed(
        'awaitVideo.content-unavailable',
        'poll 1 video',
        'pollVideos',
        'workflows/poll-loop.ts',
        'await poll(input)',
      ),
      renamed(
        'findVideoTask.found',
        'look the task up',
        'findVideoTask',
        'workflows/client-requests.ts',
        'return activity(ACTIVITY.findVideoTask',
      ),
      renamed(
        'resolveUnconfirmed.adopted',
        'adopt',
        'resolveUnconfirmed',
        'workflows/client-requests.ts',
        'return activity(ACTIVITY.resolveUnconfirmed',
      ),
      renamed(
        'reviewJournal.listed',
        'list unconfirmed',
        'reviewJournal',
        'workflows/client-requests.ts',
        'return activity(ACTIVITY.reviewJournal',
      ),
      renamed(
        'artifactStore.named',
        'name the artifact store',
        'artifactStore',
        'workflows/client-requests.ts',
        'return activity(ACTIVITY.artifactStore',
      ),
      renamed(
        'generateImage.completed',
        'generate image',
        'generateImage',
        'workflows/image-call.ts',
        'activity(ACTIVITY.generateImage',
      ),
      renamed(
        'editImage.completed',
        'edit image',
        'editImage',
        'workflows/image-call.ts',
        'activity(ACTIVITY.editImage',
      ),
      renamed(
        'runCampaign.completed',
        'read the manifest',
        'planCampaign',
        'workflows/campaign/run-campaign.ts',
        'return await plan(',
      ),
      renamed(
        'campaignBatch.completed',
        'open page 0',
        'openPage',
        'workflows/campaign/campaign-batch.ts',
        'return open({',
      ),
    ],
  },
  {
    // The workflows with one command have no order.
    what: 'the order was swapped',
    changes: [
      {
        file: 'workflows/create-once.ts',
        find: 'const answered = create({',
        replace:
          'const later = async (call: never) => { await null; return create(call); }; const answered = later({',
      },
      {
        file: 'workflows/image-call.ts',
        find: 'activity(ACTIVITY.generateImage, placement)({ ...asked, request: input.request })',
        replace:
          'Promise.resolve().then(() => activity(ACTIVITY.generateImage, placement)({ ...asked, request: input.request }))',
      },
      {
        file: 'workflows/image-call.ts',
        find: 'activity(ACTIVITY.editImage, placement)({ ...asked, request: input.request as ImageEditRequest })',
        replace:
          'Promise.resolve().then(() => activity(ACTIVITY.editImage, placement)({ ...asked, request: input.request as ImageEditRequest }))',
      },
      { file: 'workflows/await-video.ts', find: 'firstPollAt: now,', replace: 'firstPollAt: now + 5000,' },
      {
        file: 'workflows/campaign/run-campaign.ts',
        find: "const plan = activity(ACTIVITY.planCampaign, { summary: 'read the manifest' });",
        replace:
          "await campaign.books.move({ do: 'look' }); const plan = activity(ACTIVITY.planCampaign, { summary: 'read the manifest' });",
      },
      {
        file: 'workflows/campaign/campaign-batch.ts',
        find: 'const opened = await this.runOpenPage(open.set);',
        replace: `${LATER} const opened = await this.runOpenPage(open.set);`,
      },
    ],
    rows: [
      swapped(
        'generateVideo.completed',
        'create',
        { kind: 'timer', summary: 'limit of the create' },
        'workflows/timers.ts',
        '.run(() => sleep(ms, { summary }))',
      ),
      swapped(
        'generateImage.completed',
        'generate image',
        { kind: 'timer', summary: 'limit of the image call' },
        'workflows/timers.ts',
        '.run(() => sleep(ms, { summary }))',
      ),
      swapped(
        'editImage.completed',
        'edit image',
        { kind: 'timer', summary: 'limit of the image call' },
        'workflows/timers.ts',
        '.run(() => sleep(ms, { summary }))',
      ),
      swapped(
        'awaitVideo.content-unavailable',
        'poll 1 video',
        { kind: 'timer', summary: 'next poll of 1 video' },
        'workflows/poll-loop.ts',
        'await condition(() => this.changed',
      ),
      swapped(
        'runCampaign.completed',
        'read the manifest',
        { kind: 'activity', name: 'media.keepBooks', summary: 'read the book' },
        'workflows/campaign/budget-book.ts',
        'keep({ campaign',
      ),
      swapped(
        'campaignBatch.completed',
        'open page 0',
        { kind: 'timer', summary: 'check again' },
        'workflows/timers.ts',
        'sleep(',
      ),
    ],
  },
];

describe.each(KINDS)('$what', ({ changes, rows }) => {
  let copy: BrokenCopy;
  const verdicts = new Map<string, Verdict>();
  beforeAll(async () => {
    copy = await brokenCopy(changes);
    async function* runs() {
      for (const { history } of rows) yield readHistoryFile(path.join(GOLDEN, `${history}.v1.json`));
    }
    for await (const { run, verdict } of replayHistories({ bundle: copy.bundle }, runs()))
      verdicts.set(run.source.replace('.v1.json', ''), verdict);
  });

  it.each(rows)('$history: the event, the command and its line', ({ history, event, produced, at }) => {
    const verdict = verdicts.get(history);
    expect(verdict).toMatchObject({
      verdict: 'diverges',
      writtenBy: { sdk: 'temporal-typescript 1.24.0' },
      divergence: { event, produced, atProduced: true },
    });
    const [first] = (verdict as Extract<Verdict, { verdict: 'diverges' }>).divergence.at;
    const [file, text] = at;
    expect([first?.file.split('/src/')[1], first?.line]).toEqual([file, copy.lineOf(file, text)]);
  });
});
