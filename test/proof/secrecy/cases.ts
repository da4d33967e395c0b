import { type FaultRule } from '../../../packages/sandbox/src';
import { type ImageOutcome, type VideoOutcome } from '../../../src/domain';
import { withoutUrl } from '../../contract/without-url';
import { makePng } from '../../stores/artifacts/make-media';
import { promptOf } from './canaries';
import { type Hostile, on } from './hostile';
import { type SecretStack } from './secret-stack';

/** One call and how the service treats it. */
export interface SecretCase {
  readonly name: string;
  readonly kind: 'video' | 'image' | 'edit';
  /** How it must end, so that the case is known to have taken its way. */
  readonly outcome: (VideoOutcome | ImageOutcome)['outcome'];
  readonly waitFor?: string;
  readonly faults: readonly FaultRule[];
}

const MODEL = 'sketch-lite';

/** Every kind of outcome, with a service that repeats all that it knows wherever it can. */
export function secretCases({ foreign }: SecretStack, hostile: Hostile): SecretCase[] {
  const signed = foreign.signedUrl('video/a.mp4');
  const png = makePng(9, 7).toString('base64');
  const video = (
    name: string,
    outcome: VideoOutcome['outcome'],
    faults: readonly FaultRule[],
    waitFor?: string,
  ): SecretCase => ({ name, kind: 'video', outcome, faults, ...(waitFor && { waitFor }) });
  const image = (
    name: string,
    outcome: ImageOutcome['outcome'],
    faults: readonly FaultRule[],
  ): SecretCase => ({
    name,
    kind: 'image',
    outcome,
    faults,
  });
  const always = { times: 0 };
  return [
    video('completed elsewhere', 'completed', [
      on('content', 'completed elsewhere', { type: 'redirect', location: signed }, always),
    ]),
    video('completed after trouble', 'completed', [
      on('create', 'completed after trouble', hostile.status(429, 'rate_limited', { 'retry-after': '1' })),
      on('poll', 'completed after trouble', hostile.status(500)),
      on('content', 'completed after trouble', hostile.status(503, 'busy', { 'retry-after': '1' })),
    ]),
    video('unknown failure', 'failed', [
      on('poll', 'unknown failure', { type: 'task_fails', error: hostile.error().error }),
    ]),
    video('moderation', 'failed', [
      on('poll', 'moderation', { type: 'task_fails', error: hostile.error('moderation_blocked').error }),
    ]),
    video(
      'still running',
      'still_running',
      [on('poll', 'still running', { type: 'record', patch: hostile.record }, always)],
      '5s',
    ),
    video('id with the key', 'unconfirmed', [
      on('create', 'id with the key', hostile.answered({ id: `vid-${hostile.key}`, status: 'queued' })),
    ]),
    video('id of an address', 'unconfirmed', [
      on('create', 'id of an address', hostile.answered({ id: signed, status: 'queued' })),
    ]),
    video('id of the prompt', 'unconfirmed', [
      on('create', 'id of the prompt', hostile.answered({ id: promptOf('x'), status: 'queued' })),
    ]),
    video('page for a reply', 'unconfirmed', [
      on('create', 'page for a reply', {
        type: 'accept_then_status',
        status: 200,
        raw: hostile.texts.join('\n'),
        contentType: 'text/html',
        headers: hostile.headers,
      }),
    ]),
    video('server error', 'unconfirmed', [on('create', 'server error', hostile.status(500, 'server_error'))]),
    video('lost reply', 'unconfirmed', [
      on('create', 'lost reply', { type: 'lose_reply', accepted: true, how: 'cut_body' }),
    ]),
    video('content gone', 'content_unavailable', [
      on('poll', 'content gone', { type: 'record', patch: withoutUrl }, always),
      on('content', 'content gone', hostile.status(404, 'link_expired'), always),
    ]),
    video('content is a page', 'completed', [
      on('poll', 'content is a page', { type: 'record', patch: withoutUrl }, always),
      on('content', 'content is a page', {
        type: 'status',
        status: 200,
        raw: hostile.texts.join('\n'),
        contentType: 'video/mp4',
        headers: hostile.headers,
      }),
    ]),
    ...hostile.texts.map((_text, index) =>
      video(`rejected ${index}`, 'rejected', [
        on('create', `rejected ${index}`, hostile.status(400, 'invalid_prompt')),
      ]),
    ),
    image('image', 'completed', [
      on(
        'generate',
        'image',
        hostile.answered({ created: 1, data: [{ b64_json: png }], usage: hostile.record['usage'] }),
      ),
    ]),
    image('image lost', 'results_lost', [
      on(
        'generate',
        'image lost',
        hostile.answered({ created: 1, data: [{ url: foreign.signedUrl('gone') }] }),
      ),
    ]),
    image('image refused', 'rejected', [on('generate', 'image refused', hostile.status(400, 'bad_prompt'))]),
    image('image unconfirmed', 'unconfirmed', [on('generate', 'image unconfirmed', hostile.status(502))]),
    {
      name: 'edit',
      kind: 'edit',
      outcome: 'rejected',
      faults: [on('edit', 'edit', hostile.status(422, 'bad_image'))],
    },
  ];
}

/** Starts a case; its id is free of secrets, as ids of users are. */
export async function runCase(stack: SecretStack, one: SecretCase): Promise<VideoOutcome | ImageOutcome> {
  const id = idOfCase(stack, one.name);
  const prompt = promptOf(one.name);
  const { media } = stack;
  if (one.kind === 'video') {
    const request = { model: MODEL, prompt, durationSeconds: 2 } as const;
    const started = await media.startVideo(
      { request, ...(one.waitFor === undefined ? {} : { waitFor: one.waitFor }) },
      { id },
    );
    return started.result();
  }
  if (one.kind === 'image')
    return (await media.images.start({ request: { model: 'image-2', prompt } }, { id })).result();
  const request = { model: 'image-2', prompt, images: [{ file: stack.userFile }] };
  return (await media.images.start({ request }, { id })).result();
}

export const idOfCase = ({ taskQueue }: SecretStack, name: string): string =>
  `${taskQueue}-${name.replaceAll(' ', '-')}`;
