import { type Command } from 'commander';
import { type ImageGenerationRequest } from '../../domain/request';
import { type CommandContext, effectiveConfig, effectiveEnvironment } from '../command-context';
import { given } from '../given';
import { type ImageOptions, imageFields, withImageOptions } from '../image-options';
import { idOf, openStore, SPEND_HELP, waitForOf, waitMsOf } from '../paid-options';
import { readFields } from '../raw-field-options';
import { refuseInvalid } from '../refuse-invalid';
import { shellWord } from '../shell-word';
import { maySend } from '../spend/before-send';

/** `image`: generates images in one call and saves the files. */
export function addImageCommand(program: Command, context: CommandContext): void {
  withImageOptions(program.command('image').description('generate images and save the files'))
    .addHelpText('after', HELP)
    .action(async (options: ImageOptions) => image(context, options));
}

const HELP = `
The same id with the same request returns the first result. Files are called ID-1.png, ID-2.png, …
${SPEND_HELP}
Examples:
  $ temporal-media image --model image-2 --prompt "a red cube on sand" --size 1024x1024 --out out
  $ temporal-media image --model "image-2 4K" --prompt "a map" --size 3840x2160 --n 2 --id maps-1
`;

async function image(context: CommandContext, options: ImageOptions): Promise<void> {
  const id = idOf(options.id, 'image');
  const waitFor = waitForOf(options.waitFor);
  const config = effectiveConfig(context, options);
  const store = openStore(config);
  const request = {
    ...imageFields(options),
    ...given({ fields: readFields(options.field) }),
  } as ImageGenerationRequest;
  const paid = { operation: 'generate_image', request } as const;
  const env = effectiveEnvironment(context, options);
  refuseInvalid(paid);
  if (!(await maySend(context, { paid, config, env, options }))) return;
  const { runPaid } = await import('../run-paid.js');
  await runPaid(context, {
    config,
    store,
    id,
    out: options.out,
    env,
    detach: options.detach === true,
    showState: false,
    waitMs: waitMsOf(waitFor),
    announce: `id ${id}`,
    resumeHint: `Run the same command again with ${shellWord(`--id=${id}`)}: nothing is bought twice.`,
    start: (media) =>
      media.startImage(
        {
          request,
          ...given({ account: options.account }),
          refuseWhileUnconfirmed: options.again !== true,
          ...(options.again === true && { again: true }),
        },
        { id },
      ),
  });
}
