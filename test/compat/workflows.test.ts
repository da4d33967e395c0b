import { type FaultRule } from '../../packages/sandbox/src';
import { accepted } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';

const models = ['cine-1', 'cine-1-pro', 'atlas-long', 'motion-omni', 'sketch-lite', 'open-canvas'];
/** The content endpoint has lost the files of these: the address in the record, signed or `data:`, is left. */
const faults = ['atlas-long', 'motion-omni', 'sketch-lite'].map((model): FaultRule => ({
  operation: 'content',
  model,
  times: 0,
  action: { type: 'expired' },
}));

describe('workflows against every dialect of the sandbox', () => {
  const stack = sharedStack({
    sandbox: { mode: 'compat', timing: { queuedMs: 0, runningMs: 1_000 }, faults },
  });

  it.concurrent.each(models)('[C1.1] [C2.2.7] %s: a video of one create', async (model) => {
    const { media } = await stack();
    const prompt = `a lighthouse by ${model}`;
    const outcome = await (await media.startVideo({ request: { model, prompt } })).result();
    expect(outcome).toMatchObject({ outcome: 'completed', artifact: { mediaType: 'video/mp4' } });
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent.each(models)('[C2.2.8] [C7.8] %s: a failure with its kind', async (model) => {
    const { media } = await stack();
    const prompt = `[fail:moderation] a lighthouse by ${model}`;
    const outcome = await (await media.startVideo({ request: { model, prompt } })).result();
    expect(outcome).toMatchObject({ outcome: 'failed', error: { kind: 'moderation' } });
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent.each([
    ['image-2', '512x512'],
    ['image-2 4K', '2880x2880'],
  ])('[C2.5.2] %s: an image of one call', async (model, size) => {
    const { media } = await stack();
    const prompt = `a boat by ${model}`;
    const outcome = await (
      await media.images.start({ request: { model, prompt, size } }, { as: 'workflow' })
    ).result();
    expect(outcome).toMatchObject({ outcome: 'completed', images: [{ mediaType: 'image/png' }] });
    expect(await accepted(await stack(), prompt)).toBe(1);
  });
});
