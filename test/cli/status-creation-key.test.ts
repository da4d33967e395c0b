import { join } from 'node:path';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { runsStandalone } from '../../src/client/workflow-service';
import { ACTIVITY, activityQueues, WORKFLOW } from '../../src/domain/names';
import { type ImageOutcome } from '../../src/domain/outcome';
import { accepted, received } from '../support/accepted';
import { newEncryption } from '../support/encryption';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { resetWorkflow } from '../support/reset-workflow';
import { TEST_WORKFLOWS } from '../support/test-bundle';
import { runCli, runJson } from './support/run-cli';

jest.setTimeout(120_000);

/** Calls whose id is not their creation key, as programs in other languages start them, and keys that a run derives. */
describe('status names the creation key that adopts a purchase', () => {
  let stack: MediaStack;
  const start = (type: string, workflowId: string, ...args: readonly unknown[]) =>
    stack.server.client.workflow.start(type, { taskQueue: stack.taskQueue, workflowId, args: [...args] });
  const status = async (id: string) => (await runJson(['status', id], stack.env)).reply.data ?? {};
  const uniqueId = (name: string) => stack.server.uniqueId(name);
  const imageOf = (prompt: string) => ({ model: 'image-2', prompt, size: '512x512' });
  /** What a person types who follows the advice. */
  const image = async (id: string, prompt: string) => {
    const out = ['--out', join(stack.dataDir, id)];
    const words = ['image', '--model', 'image-2', '--size', '512x512', '--prompt', prompt, '--id', id];
    return (await runJson([...words, ...out], stack.env)).reply.data ?? {};
  };
  const terminatedInFlight = async (handle: WorkflowHandle, prompt: string) => {
    await eventually('the request', async () => (await received(stack, prompt)) > 0);
    await handle.terminate('a mistake');
  };
  const fault = (promptIncludes: string, operation: 'generate' | 'create', how: 'delay' | 'lose') =>
    stack.sandbox.admin.addFaults([
      {
        operation,
        promptIncludes,
        action:
          how === 'delay'
            ? { type: 'delay', ms: 3_000 }
            : { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } });
    await stack.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } });
  });
  afterAll(() => stack.stop());

  test('[C4.4a] of an image that was terminated in flight: a start with it buys nothing again', async () => {
    const [id, creationKey, prompt] = [uniqueId('banner-run'), uniqueId('order'), 'a banner cut short'];
    await fault(prompt, 'generate', 'delay');
    const handle = await start(WORKFLOW.generateImage, id, { creationKey, request: imageOf(prompt) });
    await terminatedInFlight(handle, prompt);
    const found = await status(id);
    expect(found).toMatchObject({ creationKey, workflow: { status: 'TERMINATED' } });
    expect(found['safe']).toBe(
      `Start the same request again with creation key ${creationKey} (\`--id ${creationKey}\`): it adopts earlier purchases and does not buy them again.`,
    );
    expect(await image(creationKey, prompt)).toMatchObject({ outcome: 'completed' });
    expect(await accepted(stack, prompt)).toBe(1);
  });

  test('[C4.4a] of an image that is done, found by its id or by its key', async () => {
    const [id, creationKey, prompt] = [uniqueId('banner-run'), uniqueId('order'), 'a banner in one piece'];
    await (await start(WORKFLOW.generateImage, id, { creationKey, request: imageOf(prompt) })).result();
    for (const found of [await status(id), await status(creationKey)]) {
      expect(found).toMatchObject({
        creationKey,
        workflow: { workflowId: id },
        money: { state: 'estimated' },
      });
      expect(found['safe']).toContain(`with creation key ${creationKey} (\`--id ${creationKey}\`) returns`);
    }
    expect(await image(creationKey, prompt)).toMatchObject({ outcome: 'completed' });
    expect(await accepted(stack, prompt)).toBe(1);
  });

  test('of an edit and of a video that nobody has taken', async () => {
    const edit = { ...imageOf('nothing edited'), images: [{ url: 'https://a.example/b.png' }] };
    const video = { model: 'cine-1', prompt: 'nothing filmed', durationSeconds: 2 };
    for (const [type, request] of [
      [WORKFLOW.editImage, edit],
      [WORKFLOW.generateVideo, video],
    ] as const) {
      const [workflowId, creationKey] = [uniqueId('untaken'), uniqueId('order')];
      const handle = await stack.server.client.workflow.start(type, {
        taskQueue: uniqueId('nowhere'),
        workflowId,
        args: [{ creationKey, request }],
      });
      await handle.terminate('a mistake');
      const found = await status(workflowId);
      expect(found).toMatchObject({ creationKey });
      expect(found['safe']).toContain(
        `with creation key ${creationKey} (\`--id ${creationKey}\`): it adopts`,
      );
    }
  });

  test('[C4.4a] of an activity without a workflow', async () => {
    const { client, namespace } = stack.server;
    if (!(await runsStandalone(client, namespace)))
      return void process.stdout.write('SKIPPED: this server runs no activity without a workflow\n');
    const [id, creationKey, prompt] = [uniqueId('poster-run'), uniqueId('order'), 'a poster'];
    const handle = await client.activity.start(ACTIVITY.generateImage, {
      id,
      taskQueue: activityQueues(stack.taskQueue).image,
      startToCloseTimeout: '5 minutes',
      args: [{ creationKey, request: imageOf(prompt), startLimit: '1h' }],
    });
    await handle.result();
    const found = await status(id);
    expect(found).toMatchObject({ foundBy: 'activity_id', creationKey });
    expect(found['safe']).toContain(`with creation key ${creationKey} (\`--id ${creationKey}\`) returns`);
    expect(await image(creationKey, prompt)).toMatchObject({ outcome: 'completed' });
    expect(await accepted(stack, prompt)).toBe(1);
  });

  test('that cannot be read here: it promises nothing', async () => {
    const { client, namespace } = stack.server;
    const dataConverter = { payloadCodecs: [newEncryption()] };
    const encrypting = new Client({ connection: client.connection, namespace, dataConverter });
    const handle = await encrypting.workflow.start(WORKFLOW.generateImage, {
      taskQueue: uniqueId('nowhere'),
      workflowId: uniqueId('encrypted'),
      args: [{ creationKey: uniqueId('order'), request: imageOf('a secret') }],
    });
    await handle.terminate('a mistake');
    const found = await status(handle.workflowId);
    expect(found).toMatchObject({ creationKey: null });
    expect(found['safe']).toMatch(/^Find its creation key first: /);
  });

  test('[C4.4a] that its run derived: only a reset adopts', async () => {
    const [id, prompt] = [uniqueId('keyless'), 'a banner without a key'];
    await fault(prompt, 'generate', 'delay');
    const handle = await start(WORKFLOW.generateImage, id, { request: imageOf(prompt) });
    await terminatedInFlight(handle, prompt);
    const found = await status(id);
    const { firstExecutionRunId: run } = handle as WorkflowHandle & { readonly firstExecutionRunId: string };
    expect(found).toMatchObject({ creationKey: `media-run/${id}/${run}/0` });
    expect(found['safe']).toContain(`Reset run ${run} of workflow ${id} to an event before the call`);
    const again = (await (await resetWorkflow(stack.server, id)).result()) as ImageOutcome;
    expect(again.outcome).toBe('completed');
    expect(await accepted(stack, prompt)).toBe(1);
    expect((await status(id))['safe']).toMatch(/^It is done\. Do not start it again: /);
  });

  test('[C4.4a] of a child whose parent derived it: not a start under a key that is always refused', async () => {
    const [id, prompt] = [uniqueId('film'), 'a child cut short'];
    await fault(prompt, 'create', 'delay');
    const parent = await start('buyOne', id, { request: { model: 'cine-1', prompt, durationSeconds: 2 } });
    await eventually('the request', async () => (await received(stack, prompt)) > 0);
    const { raw } = await parent.describe();
    const child = raw.pendingChildren?.[0]?.workflowId ?? '';
    await stack.server.client.workflow.getHandle(child).terminate('a mistake');
    const { safe, creationKey } = await status(child);
    expect(creationKey).toMatch(new RegExp(`^media-run/${id}/`));
    expect(safe).not.toMatch(/start the same request/i);
    expect(safe).toMatch(new RegExp(`Reset run \\S+ of workflow ${id} to an event before the call`));
    const known = await eventually('the task in the journal', async () => {
      const found = await status(child);
      return found['video'] === null ? undefined : found;
    });
    expect(known['safe']).toMatch(/^Run `temporal-media resume \S+`, which polls and downloads/);
    await parent.result().catch(() => undefined);
    const { outcomes } = (await (await resetWorkflow(stack.server, id)).result()) as {
      readonly outcomes: readonly { readonly outcome: string }[];
    };
    expect(outcomes).toMatchObject([{ outcome: 'completed' }]);
    expect(await accepted(stack, prompt)).toBe(1);
  });

  describe("of an image call in a user's own workflow", () => {
    const bought = async (prompt: string) => {
      const id = uniqueId('film');
      const defaults = { taskQueue: stack.taskQueue };
      await (await start('buyImageByHelper', id, imageOf(prompt), defaults, {})).result();
      const own = await status(id);
      const [call] = own['calls'] as readonly { readonly creationKey: string }[];
      return { id, own, key: call?.creationKey ?? '' };
    };

    test('that is done', async () => {
      const { id, own, key } = await bought('a still');
      expect(key).toMatch(new RegExp(`^media-run/${id}/`));
      expect(own).toMatchObject({ calls: [{ type: ACTIVITY.generateImage, state: 'completed' }] });
      expect((await runCli(['status', id], stack.env)).stdout).toContain(`Paid call:   ${key} (`);
      const found = await status(key);
      expect(found).toMatchObject({
        creationKey: key,
        workflow: { workflowId: id },
        outcome: { outcome: 'completed' },
        money: { state: 'estimated' },
      });
      expect(found['safe']).toMatch(/^It is done\. Do not start it again: /);
      // The history of the workflow has the outcome too.
      const elsewhere = { ...stack.env, MEDIA_JOURNAL: join(stack.dataDir, 'elsewhere') };
      expect((await runJson(['status', key], elsewhere)).reply.data).toMatchObject({
        ...{ foundBy: 'visibility', creationKey: key, outcome: { outcome: 'completed' } },
        money: { state: 'estimated' },
      });
    });

    test('whose outcome is unknown, also if the journal is elsewhere: its money and the decision', async () => {
      const prompt = 'a still of unknown fate';
      await fault(prompt, 'generate', 'lose');
      const { key } = await bought(prompt);
      const journals = [stack.env['MEDIA_JOURNAL'], join(stack.dataDir, 'elsewhere')];
      for (const MEDIA_JOURNAL of journals) {
        const { reply } = await runJson(['status', key], { ...stack.env, MEDIA_JOURNAL });
        expect(reply.data).toMatchObject({
          outcome: { outcome: 'unconfirmed' },
          money: { state: 'needs_review' },
        });
        expect(reply.data?.['safe']).toContain('adopt its task, declare it lost or resubmit it');
      }
      const decide = ['unconfirmed', 'resubmit', key, '--reason', 'not in the console', '--yes'];
      expect((await runCli(decide, stack.env)).code).toBe(0);
      expect((await status(key))['safe']).toMatch(/To send it, reset run \S+ of workflow/);
    });
  });
});
