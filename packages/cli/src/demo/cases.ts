import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { imageSize } from 'image-size';
import {
  type ArtifactRef,
  type ImageOutcome,
  type RowCounts,
  type VideoOutcome,
  type VideoRequest,
} from 'temporal-media';
import { type TemporalMediaClient } from 'temporal-media/client';
import { sumOf } from 'temporal-media/internal/domain/campaign/results';
import { failureRow } from 'temporal-media/internal/domain/failure-table';
import { ACTIVITY } from 'temporal-media/internal/domain/names';
import { readResults } from 'temporal-media/internal/manifest/result-lines';
import { checkMp4 } from 'temporal-media/internal/stores/artifacts/mp4-verdict';
import { type ArtifactStore } from 'temporal-media/stores';
import { type RunningChild } from '../shared/child-process';

/** Context for a demo case. */
export interface DemoEnvironment {
  /** Creates an id that is unique to this run. */
  readonly id: (name: string) => string;
  /** Client for the task queue whose worker runs throughout the demo. */
  readonly media: TemporalMediaClient;
  /** A task queue with its own journal. A case starts and kills its worker. */
  readonly fragile: FragileQueue;
  /** The artifact store of both queues. */
  readonly store: ArtifactStore;
  /** Two user-supplied image files in the artifact store. */
  readonly inputs: readonly [ArtifactRef, ArtifactRef];
  /** Returns the number of paid calls with exactly this prompt that the sandbox has accepted. */
  readonly accepted: (prompt: string) => Promise<number>;
  readonly say: (line: string) => void;
}

interface FragileQueue {
  readonly media: TemporalMediaClient;
  readonly startWorker: () => Promise<RunningChild<object>>;
  /** Resolves when the journal contains the response to a create; rejects after one minute. */
  readonly answerRecorded: () => Promise<void>;
  /** Returns the types of the activities that a workflow has scheduled. */
  readonly activitiesOf: (workflowId: string) => Promise<readonly string[]>;
}

/** The result of a case. */
interface DemoResult {
  /** Outcomes in order, formatted like `DemoCase.expected`. */
  readonly seen: string;
  /** Additional facts to print. */
  readonly notes: readonly string[];
  /** Results to save and verify. */
  readonly artifacts?: readonly ArtifactRef[];
}

/** A demo case and its expected outcome. */
export interface DemoCase {
  /** Also the base name of the case's files. */
  readonly name: string;
  /** What the case demonstrates, and why its outcome is correct. */
  readonly why: string;
  readonly expected: string;
  /** Number of video creates and image calls that the sandbox must accept for this case. */
  readonly paid: { readonly creates: number; readonly images: number };
  readonly run: (environment: DemoEnvironment) => Promise<DemoResult>;
}

/**
 * Parses a saved file and compares it with its artifact. @returns a description of the media
 * @throws Error when the bytes differ or cannot be parsed
 */
export async function checkMedia(path: string, ref: ArtifactRef): Promise<string> {
  const bytes = await readFile(path);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== ref.sha256) throw new Error(`The hash of ${path} does not match its artifact.`);
  const what = ref.mediaType.startsWith('video/') ? await movieOf(path) : pictureOf(bytes);
  return `${what}, ${bytes.length} bytes, sha256 ${sha256.slice(0, 12)}`;
}

async function movieOf(path: string): Promise<string> {
  const movie = await checkMp4(path);
  if (!movie.ok) throw new Error(movie.message);
  const { width, height, durationSeconds, fps = 0, codec } = movie;
  const frames = Math.round(durationSeconds * fps);
  return `MP4 ${width}x${height}, ${durationSeconds.toFixed(1)} s, ${frames} frames, ${codec}`;
}

function pictureOf(bytes: Buffer): string {
  const { width, height, type } = imageSize(bytes);
  return `${(type ?? 'image').toUpperCase()} ${width}x${height}`;
}

/** Kills a worker right after it has recorded the result of its create. */
const killedWorkerCase: DemoCase = {
  name: 'killed-worker',
  why: 'the journal outlives the worker, so another worker finishes the same task',
  expected: 'completed',
  paid: { creates: 1, images: 0 },
  run: async ({ fragile, id, accepted, say }: DemoEnvironment) => {
    const request = {
      model: 'sketch-lite',
      prompt: 'a candle in the wind [run:6s]',
      durationSeconds: 2,
    };
    const first = await fragile.startWorker();
    const started = await fragile.media.startVideo({ request }, { id: id('killed-worker') });
    await fragile.answerRecorded();
    first.kill();
    say(`killed-worker: the answer is recorded; killed worker ${first.pid} (${await first.exited})`);
    const second = await fragile.startWorker();
    const { seen, ...rest } = resultOf(await started.result());
    const journal = (await fragile.activitiesOf(started.workflowId)).includes(ACTIVITY.reconcileCreate);
    const times = await accepted(request.prompt);
    return {
      ...rest,
      seen: times === 1 ? seen : `${seen}, accepted ${times} times`,
      notes: [
        ...rest.notes,
        `worker ${second.pid} finished it; it got the task id ${journal ? 'from the journal' : 'from the first worker, just in time'}`,
        `the sandbox accepted it ${times} time(s)`,
      ],
    };
  },
};

const ROWS = 4;
/** Price of one row in micro-units: 2 s of `cine-1` at 480p in the sandbox's price list. */
const PRICE = 100_000;
const usd = (rows: number) => ({ microUnits: rows * PRICE, currency: 'USD' });

/** Runs a campaign whose budget is too small for all rows, then resumes it with a larger one. */
const campaignCase: DemoCase = {
  name: 'campaign',
  why: 'a budget for three of four rows is never exceeded, and raising it buys only the missing row',
  expected: '3 completed and 1 skipped_budget, then 4 completed',
  paid: { creates: ROWS, images: 0 },
  run: campaign,
};

async function campaign({ media, store, id, say }: DemoEnvironment): Promise<DemoResult> {
  const rows = Array.from({ length: ROWS }, (_unused, n) => ({
    id: `kite-${n + 1}`,
    model: 'cine-1',
    prompt: `kite number ${n + 1} over the sea [run:2s]`,
    duration: 2,
    resolution: '480p',
  }));
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const artifact = await store.putBuffer(Buffer.from(text), { mediaType: 'application/jsonl' });
  const name = id('campaign');
  const input = { manifest: { source: { artifact } }, budget: usd(ROWS - 1) };
  const first = await (await media.campaigns.start(input, { id: name })).result();
  say(`campaign: the budget is spent with ${words(first.counts)}; resuming with a larger budget`);
  const second = await (await media.campaigns.resume(name, { budget: usd(ROWS) })).started.result();
  const artifacts: ArtifactRef[] = [];
  for await (const row of readResults(store, second.results)) artifacts.push(...row.artifacts);
  return {
    seen: `${words(first.counts)}, then ${words(second.counts)}`,
    notes: [`its cost: ${sumOf(second.money) / 1e6} USD`],
    artifacts,
  };
}

function words(counts: RowCounts): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(' and ');
}

const ONE_CREATE = { creates: 1, images: 0 };
const ONE_IMAGE_CALL = { creates: 0, images: 1 };

/** The demo's cases. The demo succeeds only if every case has its expected outcome. */
export const DEMO_CASES: readonly DemoCase[] = [
  {
    name: 'video-from-file',
    why: "the user's image file is sent as a data URL, which this model accepts",
    expected: 'completed',
    paid: ONE_CREATE,
    run: (environment) =>
      video(environment, 'video-from-file', {
        model: 'motion-omni',
        prompt: 'the cup turns slowly on the table [run:3s]',
        durationSeconds: 3,
        references: [{ kind: 'image', source: { artifact: environment.inputs[0] } }],
      }),
  },
  {
    name: 'video-from-url',
    why: 'a URL reference is sent unchanged',
    expected: 'completed',
    paid: ONE_CREATE,
    run: (environment) =>
      video(environment, 'video-from-url', {
        model: 'cine-1',
        prompt: 'a lighthouse at dusk, slow pan [run:3s]',
        durationSeconds: 4,
        resolution: '720p',
        aspectRatio: '16:9',
        references: [{ kind: 'image', source: { url: 'https://example.com/lighthouse.png' } }],
      }),
  },
  {
    name: 'deadline',
    why: 'the wait ends before the video is done: not a failure, and resuming the task never creates again',
    expected: 'still_running, completed',
    paid: ONE_CREATE,
    run: deadline,
  },
  {
    name: 'moderation',
    why: 'a task that moderation rejects fails permanently',
    expected: 'failed/moderation',
    paid: ONE_CREATE,
    run: (environment) =>
      video(environment, 'moderation', quick('a scene that is not allowed [fail:moderation]')),
  },
  {
    name: 'capacity',
    why: 'a capacity failure is distinguished from moderation, because another attempt may succeed',
    expected: 'failed/capacity',
    paid: ONE_CREATE,
    run: (environment) => video(environment, 'capacity', quick('a scene at rush hour [fail:capacity]')),
  },
  {
    name: 'lost-reply',
    why: 'as intended: the call was accepted but the reply was lost, so nothing is sent again and the evidence is kept',
    expected: 'unconfirmed',
    paid: ONE_CREATE,
    run: lostReply,
  },
  killedWorkerCase,
  campaignCase,
  {
    name: 'image',
    why: 'one call, whose results are stored before anything else happens',
    expected: 'completed',
    paid: ONE_IMAGE_CALL,
    run: async ({ media, id }) => {
      const request = { model: 'image-2', prompt: 'a red cube on sand', size: '1024x1024' };
      return image(await media.images.execute({ request }, { id: id('image') }));
    },
  },
  {
    name: 'edit',
    why: 'two image files are sent as image[] parts, in order',
    expected: 'completed',
    paid: ONE_IMAGE_CALL,
    run: async ({ media, id, inputs }) => {
      const images = inputs.map((artifact) => ({ artifact }));
      const request = { model: 'image-2', prompt: 'put the cup on the table', size: '512x512', images };
      return image(await media.images.execute({ request }, { id: id('edit') }));
    },
  },
];

function quick(prompt: string): VideoRequest {
  return { model: 'sketch-lite', prompt, durationSeconds: 2 };
}

async function video(
  { media, id }: DemoEnvironment,
  name: string,
  request: VideoRequest,
): Promise<DemoResult> {
  return resultOf(await (await media.startVideo({ request }, { id: id(name) })).result());
}

async function deadline({ media, id, say }: DemoEnvironment): Promise<DemoResult> {
  const request = quick('a long walk along the shore [run:14s]');
  const started = await media.startVideo({ request, waitFor: '5s' }, { id: id('deadline') });
  const first: VideoOutcome = await started.result();
  if (first.outcome !== 'still_running')
    return { ...resultOf(first), seen: `${shownOutcome(first)} immediately` };
  say(`deadline: still ${first.lastStatus ?? 'unknown'} after 5 s, task ${first.video.taskId}; resuming it`);
  const second = await (await media.resume(first.video.taskId)).result();
  const { notes, artifacts } = resultOf(second);
  const same = 'video' in second && second.video?.taskId === first.video.taskId;
  return {
    seen: `${shownOutcome(first)}, ${shownOutcome(second)}${same ? '' : ' of another task'}`,
    notes: [...notes, 'the same task, created once'],
    ...(artifacts && { artifacts }),
  };
}

async function lostReply(environment: DemoEnvironment): Promise<DemoResult> {
  const request = quick('a message in a bottle [lost-reply]');
  const result = await video(environment, 'lost-reply', request);
  const accepted = await environment.accepted(request.prompt);
  const { hint = '' } = failureRow({ outcome: 'unconfirmed' }) ?? {};
  return {
    ...result,
    seen: accepted === 1 ? result.seen : `${result.seen}, accepted ${accepted} times`,
    notes: [...result.notes, `the sandbox accepted it ${accepted} time(s)`, hint],
  };
}

function image(outcome: ImageOutcome): DemoResult {
  return resultOf(outcome);
}

/** Formats an outcome like `DemoCase.expected`: `completed`, `still_running`, or a type from the failure table. */
export function shownOutcome(outcome: VideoOutcome | ImageOutcome): string {
  return failureRow(outcome)?.type ?? outcome.outcome;
}

/** Returns what the demo reports about an outcome. */
export function resultOf(outcome: VideoOutcome | ImageOutcome): DemoResult {
  const seen = shownOutcome(outcome);
  switch (outcome.outcome) {
    case 'completed':
      return 'images' in outcome
        ? { seen, notes: [], artifacts: outcome.images }
        : { seen, notes: [`task ${outcome.video.taskId}`], artifacts: [outcome.artifact] };
    case 'failed': {
      const again = outcome.retryable ? 'another attempt may succeed' : 'another attempt would also fail';
      return {
        seen,
        notes: [`task ${outcome.video.taskId}: ${outcome.error.message ?? 'no message'}`, again],
      };
    }
    case 'unconfirmed': {
      const { cause, intentAt, bodyHash, model } = outcome.evidence;
      const facts = [
        `cause ${cause}`,
        `intent at ${intentAt ?? 'unknown'}`,
        `model ${model ?? 'unknown'}`,
        `body ${bodyHash?.slice(0, 12) ?? 'unknown'}`,
      ];
      return { seen, notes: [`evidence: ${facts.join(', ')}`] };
    }
    case 'rejected':
    case 'content_unavailable':
    case 'task_unknown':
    case 'results_lost':
      return { seen, notes: [outcome.message] };
    case 'still_running':
    case 'cancelled':
      return { seen, notes: [] };
  }
}
