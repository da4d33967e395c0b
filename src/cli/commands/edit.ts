import { type Command } from 'commander';
import { type MediaSource } from '../../domain/media';
import { type ImageEditRequest } from '../../domain/request';
import { collect, type CommandContext, effectiveConfig, effectiveEnvironment } from '../command-context';
import { given } from '../given';
import { type ImageOptions, imageFields, withImageOptions } from '../image-options';
import { idOf, openStore, SPEND_HELP, waitForOf, waitMsOf } from '../paid-options';
import { readSource } from '../input-files';
import { readFields } from '../raw-field-options';
import { refuseInvalid } from '../refuse-invalid';
import { shellWord } from '../shell-word';
import { maySend } from '../spend/before-send';
import { measuringStore } from '../spend/measuring-store';

interface EditOptions extends ImageOptions {
  readonly image?: readonly string[];
  readonly mask?: string;
}

/** `edit`: edits one or several images in one call and saves the files. */
export function addEditCommand(program: Command, context: CommandContext): void {
  withImageOptions(program.command('edit').description('edit images and save the files'))
    .option('--image <file>', 'image file, at least one; may be repeated, the order is kept', collect)
    .option('--mask <file>', 'mask, only where the model lists mask editing')
    .addHelpText('after', HELP)
    .action(async (options: EditOptions) => edit(context, options));
}

const HELP = `${SPEND_HELP}
Example:
  $ temporal-media edit --model image-2 --prompt "put the cup on the table" --image cup.png --image table.png
`;

async function edit(context: CommandContext, options: EditOptions): Promise<void> {
  const id = idOf(options.id, 'edit');
  const waitFor = waitForOf(options.waitFor);
  const config = effectiveConfig(context, options);
  const store = openStore(config);
  const inputs = options.dryRun === true ? measuringStore : store;
  const images: MediaSource[] = await Promise.all(
    (options.image ?? []).map((value) => readSource(inputs, '--image', 'image', value)),
  );
  const mask =
    options.mask === undefined ? undefined : await readSource(inputs, '--mask', 'image', options.mask);
  const request = {
    ...imageFields(options),
    images,
    ...given({ mask, fields: readFields(options.field) }),
  } as ImageEditRequest;
  const paid = { operation: 'edit_image', request } as const;
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
    sendsFiles: [...images, ...(mask === undefined ? [] : [mask])].some((source) => 'artifact' in source),
    showState: false,
    waitMs: waitMsOf(waitFor),
    announce: `id ${id}`,
    resumeHint: `Run the same command again with ${shellWord(`--id=${id}`)}: nothing is bought twice.`,
    start: (media) =>
      media.startEdit(
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
