import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runDoctor } from '../../cli/support/doctor-run';
import { replyOf, startCli } from '../../cli/support/run-cli';
import { eventually } from '../../support/eventually';
import { type MediaStack, startMediaStack } from '../../support/media-stack';

/** Incident E: the folder of the artifacts is gone, or another one stands in its place. */
describe('an artifact store that is lost', () => {
  let stack: MediaStack;
  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });
  });
  afterAll(() => stack.stop());

  it('while a download fails for it, status says to repair it, and not to wait; then the video completes', async () => {
    const worker = await stack.startWorker();
    const folder = join(stack.dataDir, 'artifacts');
    const id = stack.server.uniqueId('stored');
    const request = { model: 'sketch-lite', prompt: 'a kite [run:5s]' };
    const started = await stack.media.startVideo({ request }, { id });
    await eventually('the task', async () => (await stack.media.videoState(id)).phase === 'watching');
    await rename(folder, `${folder}-away`);
    await writeFile(folder, 'no folder');
    const status = async () =>
      replyOf(await startCli(['status', id, '-o', 'json'], stack.env).ended).data as {
        readonly safe: string;
        readonly outcome: unknown;
      };
    await eventually('the failure', async () => {
      const { safe } = await status();
      return /^Its activity media\.downloadVideo keeps failing: .*retried automatically/.test(safe);
    });
    await rm(folder);
    await rename(`${folder}-away`, folder);
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    await worker.stop();
  });

  it('a store that is new in its place is called that, with both ways out', async () => {
    await (await stack.startWorker()).stop();
    await rm(join(stack.dataDir, 'artifacts'), { recursive: true });
    const refused = await stack.startWorker().catch((error: unknown) => error as Error);
    expect((refused as Error).message).toContain('its store was lost or emptied and then re-created');
    const { checks } = await runDoctor(stack.env);
    expect(checks['binding']).toMatchObject({ state: 'failed' });
    expect(JSON.stringify(checks['binding'])).toMatch(
      /lost or emptied and then re-created.*restore it.*--rebind/,
    );
  });
});
