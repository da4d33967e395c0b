import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACTIVITY, type ImageOutcome } from '../../src/domain';
import { accepted } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS } from '../support/test-bundle';

const REPOSITORY = join(__dirname, '..', '..');

const VIDEO = { model: 'cine-1', durationSeconds: 2 };

/** A workflow of somebody whose bundle holds this package twice, as two of its dependencies may bring it. */
const TWO_COPIES = `
import { workflowInfo } from '@temporalio/workflow';
import { mediaActivities as first } from './first/workflows';
import { mediaActivities as second } from './second/workflows';
export * from './first/workflows';
export async function buyOfBothCopies(request: any): Promise<unknown[]> {
  const here = { taskQueue: workflowInfo().taskQueue };
  const both = [first(here), second(here), first(here)];
  const made: unknown[] = [];
  for (const media of both) made.push(await media.generateImage(request));
  return made;
}
`;

/** Whoever makes a key makes one of its own: a key is one authorisation to create (architecture: Create). */
describe('keys that nobody gave', () => {
  const both = sharedStack({}, (stack) =>
    stack.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } }),
  );
  const request = (prompt: string) => ({ model: 'image-2', prompt, size: '512x512' });

  const ends = (outcomes: readonly ImageOutcome[]): string[] => outcomes.map(({ outcome }) => outcome);
  const THREE_COMPLETED = ['completed', 'completed', 'completed'];

  it('[C4.4a] a bare activity and a helper in one workflow: three were asked for and three are bought', async () => {
    const { server, taskQueue } = await both();
    const prompt = 'three by two ways';
    const outcomes = (await server.client.workflow.execute('buyImagesBothWays', {
      taskQueue,
      workflowId: server.uniqueId('both/ways'),
      args: [request(prompt)],
    })) as ImageOutcome[];
    expect(ends(outcomes)).toEqual(THREE_COMPLETED);
    expect(await accepted(await both(), prompt)).toBe(3);
  });

  it('a key that is made for another call is taken from nobody, whichever way it comes', async () => {
    const { server, taskQueue, media } = await both();
    const prompt = 'by a key of somebody else';
    for (const creationKey of ['media-run/a/b/0', 'media-activity/a/b/1', 'media-row/spring/kite/0']) {
      const input = { request: request(prompt), creationKey };
      for (const [type, ...args] of [
        ['generateImage', input],
        ['runBareActivity', ACTIVITY.generateImage, input],
      ] as const) {
        const outcome: unknown = await server.client.workflow.execute(type, {
          taskQueue,
          workflowId: server.uniqueId('thief'),
          args,
        });
        expect(outcome).toMatchObject({
          outcome: 'rejected',
          reason: 'creation_key_required',
          field: 'creationKey',
          message: expect.stringContaining('media-run/') as string,
        });
      }
      const video = await (
        await media.startVideo({ request: { ...VIDEO, prompt } }, { id: creationKey })
      ).result();
      expect(video).toMatchObject({ outcome: 'rejected', reason: 'creation_key_required', sends: 0 });
    }
    expect(await accepted(await both(), prompt)).toBe(0);
  });

  describe('with two copies of the package in one bundle', () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'temporal-media-copies-'));
      for (const copy of ['first', 'second'])
        for (const layer of ['domain', 'workflows'])
          await cp(join(REPOSITORY, 'src', layer), join(folder, copy, layer), { recursive: true });
      await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
      await writeFile(join(folder, 'index.ts'), TWO_COPIES);
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));
    const copies = sharedStack({}, (stack) =>
      stack.startWorker({ media: { workflows: { workflowsPath: join(folder, 'index.ts') } } }),
    );

    it('[C4.4a] both count in one: three were asked for and three are bought, in two runs at once', async () => {
      const { server, taskQueue } = await copies();
      const prompts = ['three of two copies', 'three of two copies, beside'];
      const bought = await Promise.all(
        prompts.map((prompt): Promise<ImageOutcome[]> =>
          server.client.workflow.execute('buyOfBothCopies', {
            taskQueue,
            workflowId: server.uniqueId('copies'),
            args: [request(prompt)],
          }),
        ),
      );
      for (const outcomes of bought) expect(ends(outcomes)).toEqual(THREE_COMPLETED);
      for (const prompt of prompts) expect(await accepted(await copies(), prompt)).toBe(3);
    });
  });
});
