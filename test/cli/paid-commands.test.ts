import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { imageSize } from 'image-size';
import { renderImage } from '../../packages/sandbox/src/render-image';
import { type VideoOutcome } from '../../src/domain';
import { type CliBench, openCliBench } from './support/cli-bench';
import { replyOf, runCli, runJson, startCli } from './support/run-cli';

/** Ids of this run alone: the server may be one that goes on afterwards. */
const suffix = randomUUID().slice(0, 8);
const id = (name: string): string => `${name}-${suffix}`;

describe('paid commands against a worker', () => {
  let bench: CliBench;
  let out: string;
  let picture: string;
  const video = (prompt: string, ...more: string[]): string[] => [
    ...['video', '--model', 'sketch-lite', '--prompt', prompt, '--out', out],
    ...more,
  ];
  const creates = async (): Promise<number> => (await bench.sandbox.admin.counters()).creates.received;

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 500 } });
    out = path.join(bench.dir, 'out');
    picture = path.join(bench.dir, 'cup.png');
    const spec = { kind: 'image', model: 'm', prompt: 'cup', width: 64, height: 64, index: 0 } as const;
    await writeFile(picture, renderImage({ ...spec, inputs: [] }));
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('video: one JSON object, the file with the hash of its artifact, facts beside it', async () => {
    const { code, reply, stderr } = await runJson(video('a boat', '--id', id('shot/1')), bench.clientEnv);
    expect(code).toBe(0);
    expect(reply).toMatchObject({ ok: true, data: { outcome: 'completed', workflowId: id('shot/1') } });
    expect(stderr).toMatch(/^id shot\/1-[0-9a-f]{8}$/m);
    const [file = ''] = reply.data?.files ?? [];
    expect(path.dirname(file)).toBe(out);
    expect(path.basename(file)).toMatch(/^shot_1-[0-9a-f]{8}-[0-9a-f]{8}\.mp4$/);
    const sha256 = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    expect(reply.data).toMatchObject({ artifact: { sha256 }, sidecarFile: file.replace('.mp4', '.json') });
    expect(await readFile(file.replace('.mp4', '.json'), 'utf8')).not.toContain('a boat');
  });

  test('the same id and request returns the first result and creates nothing; another request is refused', async () => {
    const before = await creates();
    const again = await runJson(video('a boat', '--id', id('shot/1')), bench.clientEnv);
    expect(again.reply).toMatchObject({ ok: true, data: { outcome: 'completed', workflowId: id('shot/1') } });
    expect(again.stderr).toContain(`Attached to ${id('shot/1')}`);
    const other = await runJson(video('another boat', '--id', id('shot/1')), bench.clientEnv);
    expect(other.code).toBe(65);
    expect(other.reply.error).toMatchObject({ type: 'rejected/creation_key_conflict' });
    expect(await creates()).toBe(before);
  });

  test('another content is never overwritten: 73, the outcome is told all the same; without --json stdout is the path', async () => {
    await writeFile(path.join(out, `${id('taken')}.mp4`), 'somebody else');
    const [taken, pier] = await Promise.all([
      runJson(video('a swan', '--id', id('taken')), bench.clientEnv),
      runCli(video('a pier', '--id', id('pier')), bench.clientEnv),
    ]);
    expect(taken.code).toBe(73);
    expect(taken.reply).toMatchObject({ ok: false, data: { outcome: 'completed' } });
    expect(taken.reply.error).toMatchObject({ type: 'artifacts/destination_occupied' });
    expect(await readFile(path.join(out, `${id('taken')}.mp4`), 'utf8')).toBe('somebody else');
    expect([pier.code, pier.stdout]).toEqual([0, `${path.join(out, `${id('pier')}.mp4`)}\n`]);
  });

  test('what was bought is told whatever could not be saved', async () => {
    const artifacts = path.join(bench.dir, 'read-only-artifacts');
    await mkdir(artifacts);
    await symlink(
      path.join(String(bench.clientEnv['MEDIA_DATA_DIR']), 'artifacts', 'sha256'),
      path.join(artifacts, 'sha256'),
    );
    const identity = path.join(String(bench.clientEnv['MEDIA_DATA_DIR']), 'artifacts', 'store.json');
    await symlink(identity, path.join(artifacts, 'store.json'));
    // Where the parts of the facts beside the images would be written.
    await writeFile(path.join(artifacts, 'parts'), '');
    const args = ['image', '--model', 'image-2', '--prompt', 'a bowl', '--out', out, '--id', id('bowl')];
    const { code, reply } = await runJson(args, { ...bench.clientEnv, MEDIA_ARTIFACTS: artifacts });
    expect(code).not.toBe(0);
    expect(reply).toMatchObject({ ok: false, data: { outcome: 'completed', workflowId: id('bowl') } });
  });

  test('[C3.4] still running is a success with exit code 75; resume finishes the same task', async () => {
    const args = video('a tide [run:8s]', '--id', id('tide'), '--wait-for', '1s');
    const first = await runJson(args, bench.clientEnv);
    expect(first.code).toBe(75);
    expect(first.reply.ok).toBe(true);
    // On a busy machine the outcome comes later than the command waits for it; test/cli/wait-for has both.
    expect(['still_running', undefined]).toContain(first.reply.data?.['outcome']);
    const outcome = (await bench.server.client.workflow.getHandle(id('tide')).result()) as VideoOutcome;
    if (outcome.outcome !== 'still_running') throw new Error(outcome.outcome);
    const { taskId } = outcome.video;
    const before = await creates();
    const second = await runJson(['resume', taskId, '--out', out], bench.clientEnv);
    expect(second.code).toBe(0);
    expect(second.reply).toMatchObject({ data: { outcome: 'completed', video: { taskId } } });
    expect(second.reply.data?.files).toEqual([path.join(out, `${taskId}.mp4`)]);
    expect(await creates()).toBe(before);
  });

  test('[C7.8] moderation and capacity have exit codes and types of their own', async () => {
    const [moderation, capacity] = await Promise.all([
      runJson(video('x [fail:moderation]'), bench.clientEnv),
      runJson(video('x [fail:capacity]'), bench.clientEnv),
    ]);
    expect([moderation.code, moderation.reply.error?.type]).toEqual([3, 'failed/moderation']);
    expect([capacity.code, capacity.reply.error?.type]).toEqual([4, 'failed/capacity']);
    expect(moderation.reply.error?.hint).not.toBe('');
    expect(moderation.reply).toMatchObject({ ok: false, data: { outcome: 'failed' } });
  });

  test('a lost reply: exit code 5 with the evidence, which status shows again', async () => {
    const key = id('lost');
    const { code, reply, stderr } = await runJson(video('x [lost-reply]', '--id', key), bench.clientEnv);
    expect([code, reply.error?.type]).toEqual([5, 'unconfirmed']);
    expect(reply.data).toMatchObject({ evidence: { cause: 'connection_lost_after_send' } });
    expect(stderr).toContain('evidence cause: connection_lost_after_send');
    const { stdout } = await runCli(['status', key], bench.clientEnv);
    expect(stdout).toMatch(/^Evidence: +cause: connection_lost_after_send$/m);
  });

  test('Ctrl-C detaches with exit code 130 and never cancels; --detach returns after the start', async () => {
    const env = bench.clientEnv;
    const waiting = startCli([...video('a bell [run:6s]', '--id', id('bell')), '--json'], env);
    await waiting.untilLine('stderr', /^task /);
    waiting.child.kill('SIGINT');
    const run = await waiting.ended;
    expect(run.code).toBe(130);
    const interrupted = { ok: false, data: { workflowId: id('bell') }, error: { type: 'interrupted' } };
    expect(replyOf(run)).toMatchObject(interrupted);
    expect(run.stderr).toContain(`temporal-media resume ${id('bell')}`);
    const before = await creates();
    const detached = await runCli(video('a bell [run:6s]', '--id', id('bell'), '--detach'), env);
    expect(detached).toMatchObject({ code: 0, stdout: `${id('bell')}\n` });
    const { code, reply } = await runJson(['resume', id('bell'), '--out', out], env);
    expect([code, reply.data?.['outcome']]).toEqual([0, 'completed']);
    expect(await creates()).toBe(before);
  });

  test('image and edit: PNGs of the size asked for, numbered, with their facts beside them; files travel as uploads', async () => {
    const model = ['--model', 'image-2', '--size', '512x512', '--out', out];
    const image = await runJson(
      ['image', ...model, '--prompt', 'a map', '--n', '2', '--id', id('map')],
      bench.clientEnv,
    );
    expect(image.reply.data?.files).toEqual([
      path.join(out, `${id('map')}-1.png`),
      path.join(out, `${id('map')}-2.png`),
    ]);
    const sidecarFile = path.join(out, `${id('map')}.json`);
    expect(image.reply.data).toMatchObject({ sidecarFile });
    const facts = JSON.parse(await readFile(sidecarFile, 'utf8')) as object;
    expect(facts).toMatchObject({
      v: 1,
      images: [{ file: `${id('map')}-1.png` }, { file: `${id('map')}-2.png` }],
    });
    expect(JSON.stringify(facts)).not.toContain('a map');
    const files = ['--image', picture, '--image', path.join(out, `${id('map')}-1.png`)];
    const edit = await runJson(
      ['edit', ...model, '--prompt', 'join', '--id', id('join'), ...files],
      bench.clientEnv,
    );
    expect([image.code, edit.code]).toEqual([0, 0]);
    for (const file of [...(image.reply.data?.files ?? []), ...(edit.reply.data?.files ?? [])])
      expect(imageSize(await readFile(file))).toMatchObject({ width: 512, height: 512, type: 'png' });
    const [sent] = await bench.sandbox.admin.requests({ operation: 'edit' });
    expect(sent?.violations).toEqual([]);
    expect(sent?.parts?.map(({ name }) => name)).toEqual(['model', 'prompt', 'size', 'image[]', 'image[]']);
  });

  test('bad input that only the model configuration can validate: exit code 65, field and allowed values, nothing accepted', async () => {
    const counted = async (): Promise<unknown> => {
      const { creates: videos, images } = await bench.sandbox.admin.counters();
      return { videos, images };
    };
    const before = await counted();
    const cine = ['video', '--model', 'cine-1', '--prompt', 'x', '--out', out];
    const image = ['image', '--model', 'image-2', '--prompt', 'x', '--out', out];
    const cases: [string[], RegExp][] = [
      [['video', '--model', 'cine-9', '--prompt', 'x', '--out', out], /model.*Allowed: cine-1,/],
      [[...cine, '--duration', '3'], /durationSeconds.*Allowed: 2, 4, 8\./],
      [[...cine, '--resolution', '8K'], /resolution.*Allowed: 480p, 720p\./],
      [[...cine, '--aspect-ratio', '7:5'], /aspectRatio.*Allowed: 16:9, 9:16, 1:1\./],
      [[...cine, '--reference', `image=${picture}`], /references\[0\]\.source.*only as URLs/],
      [
        [...cine, '--reference', 'audio=https://example.com/a.mp3'],
        /references\[0\]\.kind.*Allowed: image\./,
      ],
      [[...cine, '--field', 'seed=1'], /fields\.seed.*Allowed: camera\./],
      [[...image, '--size', '640x480'], /size.*Allowed: 512x512, .*auto\./],
      [[...image, '--n', '5'], /n must be at most 4/],
      [[...image, '--quality', 'best'], /quality.*Allowed: standard, high\./],
    ];
    const runs = await Promise.all(cases.map(([args]) => runJson(args, bench.clientEnv)));
    runs.forEach(({ code, reply }, index) => {
      expect([code, reply.error?.type]).toEqual([65, 'rejected/invalid_request']);
      expect(reply.error?.message).toMatch(cases[index]?.[1] ?? /never/);
    });
    expect(await counted()).toEqual(before);
  });
});
