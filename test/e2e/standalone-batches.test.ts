import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runsStandalone } from '../../src/client/workflow-service';
import { runJson } from '../cli/support/run-cli';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';

jest.setTimeout(120_000);

/** Longer than a server takes to begin with a batch. */
const REPLY_MS = 20_000;
const TEMPORAL = process.env['TEST_TEMPORAL_CLI'];

/** The server's batch operations (`temporal activity … --query`) on image calls without a workflow. */
describe('a batch operation on image calls without a workflow', () => {
  let isServed: boolean | undefined;
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } }, async (made) => {
    const { client, namespace } = made.server;
    isServed = await runsStandalone(client, namespace);
    await made.startWorker();
  });

  const request = (prompt: string) => ({ model: 'image-2', prompt, size: '512x512' });

  async function sum(count: typeof accepted, media: MediaStack, prompts: readonly string[]): Promise<number> {
    const counts = await Promise.all(prompts.map((prompt) => count(media, prompt)));
    return counts.reduce((total, one) => total + one, 0);
  }

  async function batch(media: MediaStack, operation: string, ids: readonly string[]): Promise<void> {
    const { address, namespace } = media.server;
    const query = ids.map((id) => `ActivityId = '${id}'`).join(' OR ');
    const where = ['--address', address, '--namespace', namespace, '--yes'];
    const { activity } = media.server.client;
    // A batch takes what the server's index lists by then.
    await eventually('the index', async () => {
      let found = 0;
      for await (const _one of activity.list(query)) found += 1;
      return found === ids.length;
    });
    // A namespace has one batch operation at a time.
    await eventually('the batch', () =>
      promisify(execFile)(TEMPORAL as string, [
        ...['activity', operation, '--query', query, '--reason', 'a mistake'],
        ...where,
      ]).then(
        () => true,
        ({ stderr }: { stderr: string }) => {
          if (stderr.includes('Max concurrent batch operations')) return false;
          throw new Error(stderr);
        },
      ),
    );
  }

  const CASES = [
    ['cancel', 'completed'],
    ['terminate', 'failed'],
  ] as const;
  it.each(CASES)(
    '[C4.4a] [C4.4b] %s: what was in flight is in the journal, what was not sent costs nothing, and no id buys again',
    async (operation, ends) => {
      const media = await stack();
      if (isServed !== true || TEMPORAL === undefined)
        return void process.stdout.write('SKIPPED: needs a server with such activities and the CLI\n');
      const prompt = (name: string) => `a batch to ${operation}, ${name}`;
      await media.sandbox.admin.addFaults([
        { operation: 'generate', promptIncludes: prompt('sent'), action: { type: 'delay', ms: REPLY_MS } },
      ]);
      const { images } = media.media;
      const start = (name: string, more: object = {}) =>
        images.start({ request: request(prompt(name)) }, { id: media.server.uniqueId(name), ...more });
      const sent = await Promise.all([start('sent 1'), start('sent 2')]);
      const waits = await start('waits', { startDelay: '1 day' });
      const sentPrompts = [prompt('sent 1'), prompt('sent 2')];
      await eventually('the requests', async () => (await sum(received, media, sentPrompts)) === 2);
      await batch(
        media,
        operation,
        [...sent, waits].map(({ workflowId }) => workflowId),
      );
      const [first, second, third] = await Promise.all(
        [...sent, waits].map((call) =>
          call.result().then(
            ({ outcome }) => outcome,
            () => 'failed',
          ),
        ),
      );
      expect([first, second, third]).toEqual([ends, ends, 'failed']);
      for (const [index, { workflowId: id }] of sent.entries()) {
        const same = { request: request(prompt(`sent ${index + 1}`)) };
        expect(await images.execute(same, { id })).toMatchObject({ outcome: 'completed' });
        const shown = await runJson(['status', id], media.env);
        expect([shown.code, shown.reply.data]).toMatchObject([0, { money: { state: 'estimated' } }]);
      }
      expect(await sum(accepted, media, sentPrompts)).toBe(2);
      expect(await received(media, prompt('waits'))).toBe(0);
    },
  );

  it('[C4.4a] delete: what is closed is found by its key, and buys nothing again', async () => {
    const media = await stack();
    if (isServed !== true || TEMPORAL === undefined)
      return void process.stdout.write('SKIPPED: needs a server with such activities and the CLI\n');
    const { images } = media.media;
    const prompts = ['a batch to delete, 1', 'a batch to delete, 2'];
    const calls = await Promise.all(
      prompts.map((prompt) =>
        images.start({ request: request(prompt) }, { id: media.server.uniqueId('deleted') }),
      ),
    );
    for (const call of calls) expect(await call.result()).toMatchObject({ outcome: 'completed' });
    await batch(
      media,
      'delete',
      calls.map(({ workflowId }) => workflowId),
    );
    for (const [index, { workflowId: id }] of calls.entries()) {
      await eventually('the deletion', async () => (await images.getHandle(id)) === undefined);
      const shown = await runJson(['status', id], media.env);
      expect([shown.code, shown.reply.data]).toMatchObject([0, { foundBy: 'journal', creationKey: id }]);
      expect(await images.execute({ request: request(prompts[index] as string) }, { id })).toMatchObject({
        outcome: 'completed',
      });
    }
    expect(await sum(accepted, media, prompts)).toBe(2);
  });
});
