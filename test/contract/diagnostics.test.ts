import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type VideoTask } from '../../src/domain/video-task';
import { makePng } from '../stores/artifacts/make-media';
import { type ContractBench, openBench } from './contract-bench';
import { withoutUrl } from './without-url';

/** Secrets that can be recognised wherever they turn up; the key has none of the shapes that a pattern would catch. */
const MARKED_KEY = 'MarkedKey0123456789';
const COOKIE = 'MarkedCookieValue77';
const SIGNATURE = 'MarkedSignature55aa';
const PROMPT = 'markedprompt of a Heron';
const FILE_NAME = 'markedfilename';
const PIXELS = makePng(23, 17);

/** Contract 5 rule 4: everything is run with marked secrets, which the service echoes wherever it can. */
describe('diagnostics', () => {
  let bench: ContractBench;
  let file: string;
  const outcomes: unknown[] = [];

  /** What a service may repeat of a request, one kind after the other: no pattern may hide behind another one. */
  const words = [
    `Refused "${PROMPT}" for key ${MARKED_KEY}`,
    `Authorization: Bearer ${MARKED_KEY}\nCookie: s=${COOKIE}`,
    `See https://media.example/f/x.mp4?X-Amz-Signature=${SIGNATURE} for ${PROMPT}`,
    `Could not read /home/user/${FILE_NAME}.png, ${PIXELS.toString('base64')}`,
    `key=${MARKED_KEY}&cookie=${COOKIE}&url=https%3A%2F%2Fmedia.example%2Fx%3Fsig%3D${SIGNATURE}`,
  ];
  let turn = 0;
  const echo = (code: string) => ({ error: { code, message: words[turn++ % words.length] } });

  beforeAll(async () => {
    bench = await openBench({
      apiKey: () => MARKED_KEY,
      sandbox: { apiKeys: [MARKED_KEY] },
      // Every kind of file problem is settled soon.
      bounds: { maxTries: 3, livingTries: 3 },
    });
    file = await bench.input(`${FILE_NAME}.png`, PIXELS);
    await everyWay();
  });
  afterAll(() => bench.close());

  /** Runs a call that may throw; what it throws is among the diagnostics. */
  async function keep(call: Promise<unknown>): Promise<void> {
    outcomes.push(await call.catch(() => 'thrown'));
  }

  async function everyWay(): Promise<void> {
    const references = [{ kind: 'image', source: { file } }] as const;
    const request = { model: 'cine-1-pro', prompt: PROMPT, durationSeconds: 4, references };
    const headers = { 'set-cookie': `s=${COOKIE}`, 'x-request-id': `req-${MARKED_KEY}`, 'retry-after': '1' };
    const paid: [number, string][] = [
      [400, 'invalid_prompt'],
      [401, 'invalid_api_key'],
      [402, 'insufficient_quota'],
      [403, 'access_denied'],
      [429, 'rate_limit_exceeded'],
      [500, 'server_error'],
      [502, 'bad_gateway'],
      [503, 'overloaded'],
      [503, 'content_policy_violation'],
    ];
    for (const [status, code] of paid) {
      const action = { type: 'status', status, body: echo(code), headers } as const;
      for (const operation of ['create', 'generate', 'edit'] as const) await bench.fault(operation, action);
      await keep(bench.create(request));
      await keep(bench.generate({ prompt: PROMPT }));
      await keep(bench.edit({ prompt: PROMPT, images: [{ file }], mask: { file } }));
      bench.restart();
    }
    const raw = `<html><title>${PROMPT} ${MARKED_KEY}</title></html>`;
    await bench.fault('create', { type: 'accept_then_status', status: 200, raw, headers });
    await keep(bench.create(request));
    for (const how of ['reset', 'close', 'cut_body'] as const) {
      await bench.fault('create', { type: 'lose_reply', accepted: true, how });
      await keep(bench.create(request));
    }
    await keep(bench.create({ ...request, references: [{ kind: 'image', source: { url: file } }] }));
    await keep(bench.edit({ prompt: PROMPT, images: [{ file: `${file}.missing` }] }));

    const { video } = await bench.created(request);
    for (const status of [400, 403, 404, 429, 500, 503])
      await bench.fault('poll', { type: 'status', status, body: echo('failed'), headers });
    for (let poll = 0; poll < 6; poll++) await keep(bench.poll(video));
    await fetchEveryWay(video, headers);
    const failing = await bench.created({ ...request, prompt: `${PROMPT} again` });
    await bench.admin.patchTask(failing.video.taskId, {
      status: 'failed',
      failure: { ...echo('moderation_blocked'), url: `https://media.example/v.mp4?sig=${SIGNATURE}` },
    });
    await keep(bench.poll(failing.video));
    const usage = { note: words[2]!.replace(PROMPT, ''), [MARKED_KEY]: [`Bearer ${MARKED_KEY}`] };
    const told = await bench.created({ prompt: PROMPT, durationSeconds: 2 });
    await bench.admin.patchTask(told.video.taskId, { record: { usage } });
    await keep(bench.download(told.video));
    const data = [{ b64_json: PIXELS.toString('base64') }];
    const body = { created: 1, data, usage };
    await bench.fault('generate', { type: 'accept_then_status', status: 200, body });
    await keep(bench.generate({ prompt: PROMPT }));
    await keep(bench.generate({ prompt: PROMPT, n: 2, responseFormat: 'b64_json' }));
    await keep(bench.edit({ prompt: PROMPT, images: [{ file }, { file }] }));
  }

  async function fetchEveryWay(video: VideoTask, headers: Record<string, string>): Promise<void> {
    const elsewhere = `https://localhost.invalid/${FILE_NAME}.mp4?X-Amz-Signature=${SIGNATURE}`;
    await bench.fault('content', { type: 'status', status: 403, body: echo('expired'), headers });
    await bench.fault('content', { type: 'status', status: 500, body: echo('server_error'), headers });
    await bench.admin.patchTask(video.taskId, {
      record: { ...withoutUrl, url: elsewhere, video_url: elsewhere },
    });
    await keep(bench.download(video));
    await bench.fault('content', { type: 'redirect', location: elsewhere }, { times: 0 });
    await keep(bench.download(video));
    await bench.admin.clearFaults();
    await keep(bench.download(video));
    await bench.admin.patchTask(video.taskId, { record: withoutUrl });
    for (const status of [400, 403, 404, 429, 502])
      await bench.fault('content', { type: 'status', status, body: echo('not_here'), headers }, { times: 3 });
    for (let fetch = 0; fetch < 4; fetch++) await keep(bench.download(video));
    const moving = await bench.created({ prompt: PROMPT, durationSeconds: 2 });
    await bench.fault('media', { type: 'cut_body', afterBytes: 2_000, how: 'reset' });
    await keep(bench.download(moving.video));
  }

  /** Name and text of every file that is kept, but the bytes of media. */
  async function files(...below: string[]): Promise<[name: string, text: string][]> {
    const folder = join(bench.root, ...below);
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    return Promise.all(
      names
        .filter((entry) => entry.isFile())
        .map(async (entry): Promise<[string, string]> => {
          const bytes = await readFile(join(entry.parentPath, entry.name));
          return [entry.name, bytes.toString('latin1')];
        }),
    );
  }

  const textOf = (kept: [string, string][]) => kept.map((one) => one.join('\n')).join('\n');
  const journal = async () => textOf(await files('journal'));
  const sidecars = async () =>
    textOf((await files('artifacts')).map(([name, text]) => [name, text.startsWith('{') ? text : '']));

  /** Where each kind of record came from, so that a miss names the place. */
  const places = async () => ({
    journal: await journal(),
    sidecars: await sidecars(),
    diagnostics: bench.diagnostics.join('\n'),
  });

  test('were really written', async () => {
    const { journal: records, sidecars: written, diagnostics } = await places();
    for (const word of ['created', 'unconfirmed', 'rejected', 'refused_for_now', 'completed'])
      expect(records).toContain(`"${word}"`);
    expect(written).toContain('"task"');
    for (const word of ['heartbeat', 'failure', 'MediaRetryLater']) expect(diagnostics).toContain(word);
    const seen = JSON.stringify(outcomes);
    for (const word of ['moderation', 'quota', 'credentials', 'downloaded', 'content_unavailable'])
      expect(seen).toContain(word);
  });

  test.each(['journal', 'sidecars', 'diagnostics'] as const)(
    '[C5.4a] no key and no cookie is in the %s',
    async (place) => {
      const text = (await places())[place];
      for (const secret of [MARKED_KEY, Buffer.from(MARKED_KEY).toString('base64').slice(0, 20), COOKIE])
        expect(around(text, secret)).toEqual([]);
      expect(around(text, /sandbox_session|set-cookie/gi)).toEqual([]);
    },
  );

  test.each(['journal', 'sidecars', 'diagnostics'] as const)(
    '[C5.4b] no signed URL is in the %s',
    async (place) => {
      const text = (await places())[place];
      expect(around(text, SIGNATURE)).toEqual([]);
      expect(around(text, /https?:\/\/[^\s"']*\?|signature=|expires=|\/generated\/|\/files\//gi)).toEqual([]);
    },
  );

  test.each(['journal', 'sidecars', 'diagnostics'] as const)(
    '[C5.4c] no prompt, no name, path or byte of a file is in the %s',
    async (place) => {
      const text = (await places())[place];
      expect(around(text, /markedprompt|Heron/gi)).toEqual([]);
      for (const own of [FILE_NAME, bench.root, PIXELS.toString('base64').slice(30, 60)])
        expect(around(text, own)).toEqual([]);
    },
  );

  test('[C5.4a] [C5.4b] what a caller gets holds no key, no cookie and no signed URL either', () => {
    const text = JSON.stringify(outcomes);
    for (const secret of [MARKED_KEY, COOKIE, SIGNATURE, /https?:\/\/[^\s"']*\?/g])
      expect(around(text, secret)).toEqual([]);
  });

  test('[C5.4c] nothing of a file is in the name of a stored one, and no part is left behind', async () => {
    const names = (await files('artifacts')).map(([name]) => name);
    expect(names.join('\n')).not.toContain(FILE_NAME);
    expect(names.filter((name) => !/^[0-9a-f]{64}(\.\w+)?$/.test(name))).toEqual([]);
  });

  test('[C5.4c] the prompt is in a side-car only when it is asked for', async () => {
    const { video } = await bench.created({ prompt: PROMPT, durationSeconds: 2 });
    const { result } = await bench.download(video, { sidecarPrompt: PROMPT });
    if (result.outcome !== 'downloaded' || result.sidecar === null) throw new Error(JSON.stringify(result));
    const sidecar = await readFile(await bench.store.localPath(result.sidecar), 'utf8');
    expect(JSON.parse(sidecar)).toMatchObject({ prompt: PROMPT });
  });
});

/** Every place in which something is found, with a little of what stands around it. */
function around(text: string, wanted: string | RegExp): string[] {
  const pattern = typeof wanted === 'string' ? new RegExp(escaped(wanted), 'g') : wanted;
  return [...text.matchAll(pattern)]
    .slice(0, 5)
    .map(({ index }) => text.slice(Math.max(0, index - 80), index + 80));
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
