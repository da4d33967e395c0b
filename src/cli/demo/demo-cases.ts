import { failureRow } from '../../domain/failure-table';
import { type ImageOutcome, type VideoOutcome } from '../../domain/outcome';
import { type VideoRequest } from '../../domain/request';
import { type DemoCase, type DemoResult, type DemoStage } from './demo-case';
import { campaignCase } from './campaign-case';
import { killedWorkerCase } from './killed-worker-case';
import { resultOf, wordOf } from './demo-result';

const ONE_CREATE = { creates: 1, images: 0 };
const ONE_IMAGE_CALL = { creates: 0, images: 1 };

/** The expectations of the demo, with their reasons: it succeeds only if every row comes true. */
export const DEMO_CASES: readonly DemoCase[] = [
  {
    name: 'video-from-file',
    why: 'an image file of the user travels as the data URL that this model takes',
    expected: 'completed',
    paid: ONE_CREATE,
    run: (stage) =>
      video(stage, 'video-from-file', {
        model: 'motion-omni',
        prompt: 'the cup turns slowly on the table [run:3s]',
        durationSeconds: 3,
        references: [{ kind: 'image', source: { artifact: stage.inputs[0] } }],
      }),
  },
  {
    name: 'video-from-url',
    why: 'a reference that is a URL is passed on as it is',
    expected: 'completed',
    paid: ONE_CREATE,
    run: (stage) =>
      video(stage, 'video-from-url', {
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
    why: 'the wait ends before the video: no failure, the task is kept, resuming it never creates again',
    expected: 'still_running, completed',
    paid: ONE_CREATE,
    run: deadline,
  },
  {
    name: 'moderation',
    why: 'a task that moderation refuses fails for good',
    expected: 'failed/moderation',
    paid: ONE_CREATE,
    run: (stage) => video(stage, 'moderation', quick('a scene that is not allowed [fail:moderation]')),
  },
  {
    name: 'capacity',
    why: 'a task that lacked capacity is told apart from moderation: another attempt can make sense',
    expected: 'failed/capacity',
    paid: ONE_CREATE,
    run: (stage) => video(stage, 'capacity', quick('a scene at rush hour [fail:capacity]')),
  },
  {
    name: 'lost-reply',
    why: 'accepted, but the reply was lost: nobody knows, so nothing is sent again and the evidence is kept',
    expected: 'unconfirmed',
    paid: ONE_CREATE,
    run: lostReply,
  },
  killedWorkerCase,
  campaignCase,
  {
    name: 'image',
    why: 'one call, its results are stored before anything else happens',
    expected: 'completed',
    paid: ONE_IMAGE_CALL,
    run: async ({ media, id }) => {
      const request = { model: 'image-2', prompt: 'a red cube on sand', size: '1024x1024' };
      return image(await (await media.startImage({ request }, { id: id('image') })).result());
    },
  },
  {
    name: 'edit',
    why: 'two image files go as image[] parts in their order',
    expected: 'completed',
    paid: ONE_IMAGE_CALL,
    run: async ({ media, id, inputs }) => {
      const images = inputs.map((artifact) => ({ artifact }));
      const request = { model: 'image-2', prompt: 'put the cup on the table', size: '512x512', images };
      return image(await (await media.startEdit({ request }, { id: id('edit') })).result());
    },
  },
];

function quick(prompt: string): VideoRequest {
  return { model: 'sketch-lite', prompt, durationSeconds: 2 };
}

async function video({ media, id }: DemoStage, name: string, request: VideoRequest): Promise<DemoResult> {
  return resultOf(await (await media.startVideo({ request }, { id: id(name) })).result());
}

async function deadline({ media, id, say }: DemoStage): Promise<DemoResult> {
  const request = quick('a long walk along the shore [run:14s]');
  const started = await media.startVideo({ request, waitFor: '5s' }, { id: id('deadline') });
  const first: VideoOutcome = await started.result();
  if (first.outcome !== 'still_running') return { ...resultOf(first), seen: `${wordOf(first)} at once` };
  say(`deadline: still ${first.lastStatus ?? 'unknown'} after 5 s, task ${first.video.taskId}; resuming it`);
  const second = await (await media.resume(first.video.taskId)).result();
  const { notes, artifacts } = resultOf(second);
  const same = 'video' in second && second.video?.taskId === first.video.taskId;
  return {
    seen: `${wordOf(first)}, ${wordOf(second)}${same ? '' : ' of another task'}`,
    notes: [...notes, 'the same task, created once'],
    ...(artifacts && { artifacts }),
  };
}

async function lostReply(stage: DemoStage): Promise<DemoResult> {
  const request = quick('a message in a bottle [lost-reply]');
  const result = await video(stage, 'lost-reply', request);
  const accepted = await stage.accepted(request.prompt);
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
