import { type ServerResponse } from 'node:http';
import { NO_JOURNAL } from '../../../src/domain/journal';
import { NOT_RECORDED } from '../../../src/domain/names';
import { type CreateVideoAnswer } from '../../../src/domain/paid-call';
import { type VideoRequest } from '../../../src/domain/request';
import { modelSource } from '../../manifest/models';
import { json, type SeenRequest } from '../../service/loopback-service';
import { fenceEntry } from '../../support/log-entries';
import { CreateHarness, promptOf, rowOf, video } from './create-harness';

/** What the service does with a prompt. */
const REPLIES: Record<string, (response: ServerResponse, task: string) => void> = {
  accepted: (response, task) => json(response, 200, { id: task, status: 'queued' }),
  moderated: (response) => json(response, 400, { error: { code: 'moderation_blocked', message: 'no' } }),
  invalid: (response) => json(response, 422, { detail: 'seconds' }),
  unpaid: (response) => json(response, 402, {}),
  unauthorised: (response) => json(response, 401, {}),
  limited: (response) => json(response, 429, {}, { 'retry-after': '7' }),
  busy: (response) => json(response, 503, {}, { 'retry-after': '9' }),
  broken: (response) => json(response, 500, {}),
  gateway: (response) => json(response, 502, {}),
  nonsense: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  lost: (response) => response.socket?.destroy(),
};

describe('media.createVideos', () => {
  let harness: CreateHarness;
  let task = 0;

  beforeEach(async () => {
    task = 0;
    harness = await CreateHarness.open((request: SeenRequest, response) => {
      task += 1;
      const name = promptOf(request).split(' ')[0] ?? '';
      (REPLIES[name] ?? REPLIES['accepted'])!(response, `video_${task}`);
    });
  });
  afterEach(() => harness.close());

  it('[C4.4a] a look for what was bought finds it beyond fences, and says that nothing was where nothing is', async () => {
    const key = { namespace: 'default', creationKey: 'row-0' };
    harness.rows = [rowOf(0, video('accepted kite'))];
    const look = async () => {
      const [answer] = await harness.batch(
        (index) => `row-${index}`,
        harness.rows,
        {},
        { recordedOnly: true },
      );
      return answer;
    };
    for (const n of [0, 1]) await harness.journal.append(key, n, fenceEntry({ sender: `other/${n}` }));
    expect(await look()).toMatchObject({ outcome: 'not_sent', cause: NOT_RECORDED, sendAttemptUsed: false });
    expect(harness.service.seen).toHaveLength(0);
    const bought = await harness.single('row-0', { model: 'm', prompt: 'accepted kite' });
    expect(bought).toMatchObject({ outcome: 'created', sendAttempt: 0 });
    expect(await look()).toMatchObject({ outcome: 'created', sendAttempt: 0, sent: false });
    expect(harness.service.seen).toHaveLength(1);
  });

  it('[C4.4a] every row of a group gets the answer that it would get alone, and one POST', async () => {
    const requests: VideoRequest[] = Object.keys(REPLIES).map((prompt) => ({
      model: 'm',
      prompt: `${prompt} kite`,
    }));
    requests.push({ model: 'm', prompt: ' ' }, { model: 'm', prompt: 'accepted', durationSeconds: 1.5 });
    harness.rows = requests.map((request, row) => rowOf(row, { operation: 'create_video', request }));
    const together = await harness.batch((index) => `together-${index}`);
    const sent = harness.service.seen.length;
    expect(sent).toBe(Object.keys(REPLIES).length);
    const alone: CreateVideoAnswer[] = [];
    for (const [index, request] of requests.entries())
      alone.push(await harness.single(`alone-${index}`, request));
    expect(harness.service.seen).toHaveLength(2 * sent);
    expect(together.map(comparable)).toEqual(alone.map(comparable));
    expect(new Set(together.map(({ outcome }) => outcome))).toEqual(
      new Set(['created', 'rejected', 'refused_for_now', 'unconfirmed']),
    );
    // The same again sends nothing: every row has a log of its own.
    const again = await harness.batch((index) => `together-${index}`);
    expect(again.map(({ outcome }) => outcome)).toEqual(together.map(({ outcome }) => outcome));
    expect(harness.service.seen).toHaveLength(2 * sent);
  });

  it('[C4.4a] without a journal nothing is sent: a workflow that is reset would send its group again', async () => {
    harness.rows = ['one', 'two'].map((prompt, row) => rowOf(row, video(prompt)));
    const answers = await harness.batch((index) => `row-${index}`, harness.rows, { journal: NO_JOURNAL });
    expect(answers).toMatchObject(
      harness.rows.map(() => ({ outcome: 'rejected', reason: 'unsafe_retry_policy', sent: false })),
    );
    expect(harness.service.seen).toHaveLength(0);
  });

  it('[C1.5] nothing is sent for more than was agreed to: prices change while a campaign runs', async () => {
    harness.models = modelSource();
    const film = {
      operation: 'create_video',
      request: { model: 'cine-1', prompt: 'a', durationSeconds: 4 },
    } as const;
    harness.rows = [
      rowOf(0, film, { estimate: 200_000 }),
      rowOf(1, film, { estimate: 300_000 }),
      rowOf(2, film, { estimate: 199_999 }),
      rowOf(3, { operation: 'create_video', request: { model: 'free-form', prompt: 'b' } }, { estimate: 5 }),
    ];
    const answers = await harness.batch((index) => `row-${index}`);
    expect(answers.map((answer) => ('reason' in answer ? answer.reason : answer.outcome))).toEqual([
      'created',
      'created',
      'price_changed',
      'price_changed',
    ]);
    expect(harness.service.seen).toHaveLength(2);
    // Nothing stands in the way of the same key once the new price is agreed to.
    harness.rows = [rowOf(0, film, { estimate: 200_000 })];
    const [again] = await harness.batch(() => 'row-2');
    expect(again?.outcome).toBe('created');
  });

  it('[C4.4b] each row is recorded and found by its task id; heartbeats name the tasks by their place', async () => {
    harness.rows = ['one', 'moderated', 'three'].map((prompt, row) => rowOf(row, video(prompt)));
    const answers = await harness.batch((index) => `row-${index}`);
    const ids = answers.map((answer) => (answer.outcome === 'created' ? answer.video.taskId : null));
    expect(ids).toEqual([expect.any(String), null, expect.any(String)]);
    for (const [index, answer] of answers.entries()) {
      expect(await harness.journal.read({ namespace: 'default', creationKey: `row-${index}` })).toMatchObject(
        [
          { kind: 'intent', creationKey: `row-${index}` },
          { kind: 'answer', answer: { outcome: answer.outcome } },
        ],
      );
      if (answer.outcome === 'created')
        expect(await harness.journal.findTask(answer.video.taskId)).toMatchObject([
          { creationKey: `row-${index}` },
        ]);
    }
    const intents = ids.map(() => expect.any(String) as unknown);
    expect(harness.heartbeats.at(-1)).toEqual({ intents, taskIds: ids });
  });

  it('[C4.4a] a group that runs again sends only what was never sent', async () => {
    harness.rows = ['one', 'two', 'three'].map((prompt, row) => rowOf(row, video(prompt)));
    const first = await harness.batch((index) => `row-${index}`, harness.rows.slice(0, 2));
    const second = await harness.batch((index) => `row-${index}`);
    expect(harness.service.seen).toHaveLength(3);
    expect(second.slice(0, 2)).toMatchObject(first.map((answer) => ({ ...answer, sent: false })));
  });

  it('a row whose preparation throws leaves the others alone', async () => {
    const real = harness.deps.models;
    harness.models = {
      ...real,
      lookup: (model, kind) => {
        if (model === 'odd') throw new Error('a fault of ours');
        return real.lookup(model, kind);
      },
    };
    const odd = { operation: 'create_video', request: { model: 'odd', prompt: 'x' } } as const;
    const broken = { operation: 'create_video', request: null as never } as const;
    harness.rows = [rowOf(0, video('one')), rowOf(1, odd), rowOf(2, broken), rowOf(3, video('four'))];
    const answers = await harness.batch((index) => `row-${index}`);
    expect(answers).toMatchObject([
      { outcome: 'created' },
      { outcome: 'not_sent', cause: 'configuration_unavailable', sendAttemptUsed: false },
      { outcome: 'pending' },
      { outcome: 'created' },
    ]);
  });

  it('[C4.4c] without its page nothing is sent, and what was sent before is not called unsent', async () => {
    harness.rows = ['one', 'two'].map((prompt, row) => rowOf(row, video(prompt)));
    await harness.batch((index) => `row-${index}`, harness.rows.slice(0, 1));
    harness.pageFails = true;
    expect(await harness.batch((index) => `row-${index}`)).toMatchObject([
      { outcome: 'pending', sent: false },
      {
        outcome: 'not_sent',
        cause: 'page_unavailable',
        sendAttemptUsed: false,
        permanent: false,
        sent: false,
      },
    ]);
    expect(harness.service.seen).toHaveLength(1);
  });

  it('a place that holds no video is refused', async () => {
    harness.rows = [rowOf(0, { operation: 'generate_image', request: { model: 'm', prompt: 'x' } })];
    const missing = [...harness.rows, rowOf(7, video('one'))];
    expect(await harness.batch((index) => `row-${index}`, missing)).toMatchObject([
      { outcome: 'rejected', reason: 'invalid_request' },
      { outcome: 'rejected', reason: 'invalid_request' },
    ]);
  });

  it('[C4.4a] a group that is cancelled before its sends settles every row as not sent', async () => {
    harness.rows = ['one', 'two'].map((prompt, row) => rowOf(row, video(prompt)));
    harness.environment.cancel();
    expect(await harness.batch((index) => `row-${index}`)).toMatchObject([
      { outcome: 'not_sent', cause: 'worker_shutdown', sendAttemptUsed: true },
      { outcome: 'not_sent', cause: 'worker_shutdown', sendAttemptUsed: true },
    ]);
    expect(harness.service.seen).toHaveLength(0);
  });
});

/** An answer without what is different in every call. */
function comparable(answer: CreateVideoAnswer): unknown {
  const text = JSON.stringify(answer)
    .replace(/"taskId":"[^"]*"/, '"taskId":"…"')
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"time"')
    .replace(/"(replyHash|date|sendId)":"[^"]*"/g, '"$1":"…"');
  return JSON.parse(text) as unknown;
}
