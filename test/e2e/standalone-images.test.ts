import { execFile } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreationKeyConflictError } from '../../src/client';
import { runsStandalone } from '../../src/client/workflow-service';
import { ACTIVITY, activityQueues } from '../../src/domain/names';
import { runJson, startCli } from '../cli/support/run-cli';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';

jest.setTimeout(120_000);

/** `media.images` and the commands, for image calls that run as activities without a workflow. */
describe('an image call without a workflow', () => {
  let isServed: boolean | undefined;
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } }, async (made) => {
    const { client, namespace } = made.server;
    isServed = await runsStandalone(client, namespace);
    await made.startWorker();
  });

  /** Older servers do not have them. */
  const test = (title: string, body: (media: MediaStack) => Promise<void>): void =>
    it.concurrent(title, async () => {
      const media = await stack();
      if (isServed === true) await body(media);
      else process.stdout.write(`SKIPPED ${title}: this server runs no activity without a workflow\n`);
    });

  const request = (prompt: string) => ({ model: 'image-2', prompt, size: '512x512' });
  const delayed = ({ sandbox }: MediaStack, prompt: string, ms: number) =>
    sandbox.admin.addFaults([
      { operation: 'generate', promptIncludes: prompt, action: { type: 'delay', ms } },
    ]);
  const inFlight = (media: MediaStack, prompt: string) =>
    eventually('the request', async () => (await received(media, prompt)) > 0);
  /** In the stack's own directory, which it removes. */
  const temporaryDirectory = ({ config }: MediaStack) => mkdtemp(join(config.dataDir, 'out-'));
  /** A queue without workers. */
  const nowhere = ({ server }: MediaStack) => ({ image: server.uniqueId('nowhere') });

  test('[C4.4a] is the default, and with one id buys once, whatever runs it', async (media) => {
    const [id, prompt] = [media.server.uniqueId('once'), 'a heron by default'];
    const { images } = media.media;
    const first = await images.start({ request: request(prompt) }, { id });
    expect(first).toMatchObject({ as: 'activity', workflowId: id, isNew: true });
    const again = await images.start({ request: request(prompt) }, { id });
    expect(again).toMatchObject({ isNew: false, runId: first.runId });
    const outcome = await first.result();
    expect(outcome).toMatchObject({ outcome: 'completed' });
    expect(await images.execute({ request: request(prompt) }, { id })).toEqual(outcome);
    const workflow = await images.start({ request: request(prompt) }, { id, as: 'workflow' });
    expect([workflow.as, (await workflow.result()).outcome]).toEqual(['workflow', 'completed']);
    expect(await accepted(media, prompt)).toBe(1);
    const other = { request: request('another heron') };
    await expect(images.start(other, { id })).rejects.toThrow(CreationKeyConflictError);
    await expect(images.start(other, { id, as: 'workflow' })).rejects.toThrow(CreationKeyConflictError);
    expect(await received(media, 'another heron')).toBe(0);
  });

  test('[C4.4a] of a workflow is found by an activity with its id, which buys nothing', async (media) => {
    const [id, prompt] = [media.server.uniqueId('flow'), 'a heron of a workflow'];
    const { images } = media.media;
    const first = await images.execute({ request: request(prompt) }, { id, as: 'workflow' });
    expect(await images.execute({ request: request(prompt) }, { id, as: 'activity' })).toMatchObject({
      outcome: 'completed',
      images: first.outcome === 'completed' ? first.images : [],
    });
    expect(await images.getHandle(id)).toMatchObject({ as: 'activity' });
    expect(await images.getHandle('nobody')).toBeUndefined();
    expect(await accepted(media, prompt)).toBe(1);
  });

  test('of an edit runs the activity of edits; options of workflows need a workflow', async (media) => {
    const { images } = media.media;
    const picture = await images.execute({ request: request('a picture to edit') });
    if (picture.outcome !== 'completed') throw new Error(picture.outcome);
    const edit = { ...request('an edited heron'), images: [{ artifact: picture.images[0]! }] };
    const id = media.server.uniqueId('edit');
    expect(await images.execute({ request: edit }, { id })).toMatchObject({ outcome: 'completed' });
    const described = await media.server.client.activity.getHandle(id).describe();
    expect(described.activityType).toBe(ACTIVITY.editImage);
    const call = { request: request('with a memo') };
    await expect(images.start(call, { as: 'activity', memo: { a: 1 } })).rejects.toThrow('memo');
    expect(await images.start(call, { memo: { a: 1 } })).toMatchObject({ as: 'workflow' });
  });

  test('[C8.6] that no worker takes ends at its start limit and may start again', async (media) => {
    const [id, prompt] = [media.server.uniqueId('untaken'), 'a heron that nobody takes'];
    const { images } = media.media;
    const call = { request: request(prompt), startLimit: '1s', queues: nowhere(media) };
    const started = await images.start(call, { id });
    await expect(started.result()).rejects.toThrow();
    const shown = await runJson(['status', id], media.env);
    expect(shown.reply.data).toMatchObject({ foundBy: 'activity_id', activity: { status: 'TIMED_OUT' } });
    expect(shown.reply.data?.['safe']).toContain(`Start the same request again with creation key ${id}`);
    const { queues: _queues, ...same } = call;
    expect(await images.execute(same, { id })).toMatchObject({ outcome: 'completed' });
    expect(await accepted(media, prompt)).toBe(1);
  });

  test('with a start delay waits for it, and one that is canceled before it is sent costs nothing', async (media) => {
    const [id, prompt] = [media.server.uniqueId('later'), 'a heron for tomorrow'];
    const started = await media.media.images.start({ request: request(prompt) }, { id, startDelay: '1 day' });
    await media.server.client.activity.getHandle(id).cancel('not wanted');
    await expect(started.result()).rejects.toThrow();
    expect(await received(media, prompt)).toBe(0);
    const shown = await runJson(['status', id], media.env);
    expect(shown.reply.data).toMatchObject({
      activity: { status: 'CANCELED' },
      money: { state: 'needs_review' },
    });
  });

  test('[C4.4b] that is canceled in flight ends with what was bought', async (media) => {
    const [id, prompt] = [media.server.uniqueId('canceled'), 'a heron canceled in flight'];
    await delayed(media, prompt, 3_000);
    const started = await media.media.images.start({ request: request(prompt) }, { id });
    await inFlight(media, prompt);
    await media.server.client.activity.getHandle(id).cancel('not wanted any more');
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    expect(await accepted(media, prompt)).toBe(1);
  });

  test('[C4.4b] that is terminated in flight is in the journal, and its id buys nothing again', async (media) => {
    const [id, prompt] = [media.server.uniqueId('terminated'), 'a heron terminated in flight'];
    await delayed(media, prompt, 3_000);
    const { images } = media.media;
    const started = await images.start({ request: request(prompt) }, { id });
    await inFlight(media, prompt);
    await media.server.client.activity.getHandle(id).terminate('a mistake');
    await expect(started.result()).rejects.toThrow();
    expect(await images.execute({ request: request(prompt) }, { id })).toMatchObject({
      outcome: 'completed',
    });
    expect(await accepted(media, prompt)).toBe(1);
  });

  test('[C4.4a] that the server has deleted is found by its key, and its id buys nothing again', async (media) => {
    const [id, prompt] = [media.server.uniqueId('deleted'), 'a heron deleted'];
    const { images } = media.media;
    await images.execute({ request: request(prompt) }, { id });
    const { client, namespace } = media.server;
    await client.workflowService.deleteActivityExecution({ namespace, activityId: id });
    await eventually('the deletion', async () => (await images.getHandle(id)) === undefined);
    const shown = await runJson(['status', id], media.env);
    expect([shown.code, shown.reply.data]).toMatchObject([0, { foundBy: 'journal', creationKey: id }]);
    expect(JSON.stringify(shown.reply.data?.['notes'])).toContain('retention');
    expect(await images.execute({ request: request(prompt) }, { id })).toMatchObject({
      outcome: 'completed',
    });
    expect(await accepted(media, prompt)).toBe(1);
  });

  test('that a person has paused says so with the command that lifts it, and continues after it', async (media) => {
    const [id, prompt] = [media.server.uniqueId('paused'), 'a paused heron'];
    const started = await media.media.images.start({ request: request(prompt) }, { id, startDelay: '5s' });
    const handle = media.server.client.activity.getHandle(id);
    await handle.pause({ reason: 'a look around' });
    const shown = await runJson(['status', id], media.env);
    expect(shown.reply.data).toMatchObject({ activity: { status: 'PAUSED', pause: { isRequested: false } } });
    expect(shown.reply.data?.['safe']).toContain(`temporal activity unpause --activity-id ${id}`);
    const watching = startCli(['watch', id, '--wait-for', '1s', '-o', 'jsonl'], media.env);
    expect((await watching.ended).stdout).toContain('"as":"activity"');
    await handle.unpause();
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    expect(await accepted(media, prompt)).toBe(1);
  });

  test('[C4.4a] of the shell buys once, and waits as long as its start limit says', async (media) => {
    const [id, prompt] = [media.server.uniqueId('shell'), 'a heron of the shell'];
    const { address, namespace } = media.server;
    const temporal = process.env['TEST_TEMPORAL_CLI'];
    if (temporal === undefined) return void process.stdout.write('SKIPPED: the server came without a CLI\n');
    const execute = async () => {
      const { stdout } = await promisify(execFile)(temporal, [
        ...['activity', 'execute', '--type', ACTIVITY.generateImage, '--activity-id', id],
        ...['--task-queue', activityQueues(media.taskQueue).image, '--address', address],
        ...['--namespace', namespace, '--start-to-close-timeout', '30m', '--heartbeat-timeout', '10s'],
        ...['--input', JSON.stringify({ request: request(prompt), startLimit: '1h' }), '-o', 'json'],
      ]);
      return JSON.parse(stdout) as { readonly status: string; readonly result: unknown };
    };
    const first = await execute();
    expect(first).toMatchObject({ status: 'COMPLETED', result: { outcome: 'completed' } });
    const found = await media.media.images.execute({ request: request(prompt) }, { id });
    expect(found).toMatchObject({ outcome: 'completed' });
    expect(await accepted(media, prompt)).toBe(1);
  });

  test('has a word of every command', async (media) => {
    const [id, prompt] = [media.server.uniqueId('command'), 'a heron of the command line'];
    const out = await temporaryDirectory(media);
    const image = ['image', '--model', 'image-2', '--prompt', prompt, '--id', id, '--yes'];
    const made = await runJson([...image, '--out', out], media.env);
    expect([made.code, made.reply.data]).toMatchObject([0, { workflowId: id, outcome: 'completed' }]);
    const status = await runJson(['status', id], media.env);
    expect([status.code, status.reply.data]).toMatchObject([
      0,
      {
        foundBy: 'activity_id',
        workflow: null,
        activity: {
          activityId: id,
          type: ACTIVITY.generateImage,
          status: 'COMPLETED',
          attempt: 1,
          pause: null,
        },
        creationKey: id,
        money: { state: 'estimated' },
      },
    ]);
    expect(status.reply.data?.['safe']).toContain('It is done.');
    const watched = await runJson(['watch', id], media.env);
    expect([watched.code, watched.reply.data]).toMatchObject([0, { outcome: 'completed' }]);
    const resumed = await temporaryDirectory(media);
    const resume = await runJson(['resume', id, '--out', resumed], media.env);
    expect([resume.code, resume.reply.data]).toMatchObject([0, { outcome: 'completed' }]);
    expect(await readdir(resumed)).toEqual(await readdir(out));
    const orphans = await runJson(['orphans'], media.env);
    expect(orphans.reply.data).toMatchObject({ orphans: [] });
    const replay = await runJson(['replay', id], media.env);
    expect([replay.code, replay.reply.data]).toMatchObject([
      0,
      {
        targets: [
          { target: id, error: { message: expect.stringContaining('without a workflow') as string } },
        ],
      },
    ]);
    expect(JSON.stringify(replay.reply.data)).toContain('It is done.');
    const flow = await runJson(
      [...image.with(-2, `${id}-flow`), '--as', 'workflow', '--out', out],
      media.env,
    );
    expect([flow.code, flow.reply.data]).toMatchObject([0, { outcome: 'completed' }]);
    expect((await runJson(['status', `${id}-flow`], media.env)).reply.data).toMatchObject({ activity: null });
  });

  test('[C4.4c] of which nobody knows how it ended waits for a person, whose decision is shown', async (media) => {
    const [id, prompt] = [media.server.uniqueId('unknown'), 'a heron of unknown fate'];
    await media.sandbox.admin.addFaults([
      {
        operation: 'generate',
        promptIncludes: prompt,
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
    const { images } = media.media;
    expect(await images.execute({ request: request(prompt) }, { id })).toMatchObject({
      outcome: 'unconfirmed',
    });
    const listed = await runJson(['unconfirmed', 'show', id], media.env);
    expect([listed.code, JSON.stringify(listed.reply.data)]).toEqual([0, expect.stringContaining(id)]);
    const lost = ['unconfirmed', 'declare-lost', id, '--reason', 'not in the records'];
    expect((await runJson(lost, media.env)).code).toBe(0);
    const shown = await runJson(['status', id], media.env);
    expect(shown.reply.data).toMatchObject({ decisions: [{ decision: 'declareLost' }] });
    expect(await images.execute({ request: request(prompt) }, { id })).toMatchObject({
      outcome: 'rejected',
      reason: 'declared_lost',
    });
    expect(await accepted(media, prompt)).toBe(1);
  });
});
