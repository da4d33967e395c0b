import { type Command, Option } from 'commander';
import {
  type ImageOutcome,
  type ImageEditRequest,
  type ImageGenerationRequest,
  type MediaSource,
  type PaidRequest,
  type DurationInput,
} from 'temporal-media';
import { type RunAs, type Started, type TemporalMediaClient } from 'temporal-media/client';
import { given } from 'temporal-media/internal/domain/json';
import { openArtifactStore } from 'temporal-media/internal/stores/open-stores';
import {
  collect,
  type CommandContext,
  effectiveConfig,
  effectiveEnvironment,
  withCommonOptions,
} from '../shared/context';
import { refuseInvalidCall } from '../shared/invalid-request';
import {
  howOf,
  idOf,
  numberOption,
  type PaidOptions,
  readFields,
  readSourceOption,
  SPEND_HELP,
  startOf,
  waitForOf,
  waitMsOf,
  withLabelOptions,
  withSpendOptions,
} from '../shared/paid-options';
import { type Run } from '../shared/run-paid';
import { shellWord } from '../shared/text';

interface EditOptions extends ImageOptions {
  readonly image?: readonly string[];
  readonly mask?: string;
}

/** Adds `edit`, which edits one or more images in one call and saves the files. */
export function addEditCommand(program: Command, context: CommandContext): void {
  withImageOptions(program.command('edit').description('edit images and save the files'))
    .option('--image <file>', 'image file; required, can be repeated, order is kept', collect)
    .option('--mask <file>', 'mask file, only for models that support mask editing')
    .addHelpText('after', EDIT_HELP)
    .action(async (options: EditOptions) => edit(context, options));
}

const EDIT_HELP = `${SPEND_HELP}
Example:
  $ temporal-media edit --model image-2 --prompt "put the cup on the table" --image cup.png --image table.png
`;

async function edit(context: CommandContext, options: EditOptions): Promise<void> {
  const id = idOf(options.id, 'edit');
  const waitFor = waitForOf(options.waitFor);
  const config = effectiveConfig(context, options);
  const store = await openArtifactStore(config);
  const inputs = options.dryRun === true ? (await import('../shared/dry-run.js')).measuringStore : store;
  const images: MediaSource[] = await Promise.all(
    (options.image ?? []).map((value) => readSourceOption(inputs, '--image', 'image', value)),
  );
  const mask =
    options.mask === undefined ? undefined : await readSourceOption(inputs, '--mask', 'image', options.mask);
  const request = {
    ...imageFields(options),
    images,
    ...given({ mask, fields: readFields(options.field) }),
  } as ImageEditRequest;
  const sendsFiles = [...images, ...(mask === undefined ? [] : [mask])].some(
    (source) => 'artifact' in source,
  );
  const paid = { operation: 'edit_image', request } as const;
  const start: ImageCall['start'] = (media, call, how) =>
    media.images.start({ request, ...call }, { id, ...given({ as: options.as }), ...how });
  await runImageCall(context, options, { id, waitFor, config, store, paid, sendsFiles, start });
}

/** Adds `image`, which generates images in one call and saves the files. */
export function addImageCommand(program: Command, context: CommandContext): void {
  withImageOptions(program.command('image').description('generate images and save the files'))
    .addHelpText('after', IMAGE_HELP)
    .action(async (options: ImageOptions) => image(context, options));
}

const IMAGE_HELP = `
Repeating a request with the same id returns the first result. Files are named ID-1.png, ID-2.png, …
${SPEND_HELP}
Examples:
  $ temporal-media image --model image-2 --prompt "a red cube on sand" --size 1024x1024 --out out
  $ temporal-media image --model "image-2 4K" --prompt "a map" --size 3840x2160 --n 2 --id maps-1
`;

async function image(context: CommandContext, options: ImageOptions): Promise<void> {
  const id = idOf(options.id, 'image');
  const waitFor = waitForOf(options.waitFor);
  const config = effectiveConfig(context, options);
  const store = await openArtifactStore(config);
  const request = {
    ...imageFields(options),
    ...given({ fields: readFields(options.field) }),
  } as ImageGenerationRequest;
  const paid = { operation: 'generate_image', request } as const;
  const start: ImageCall['start'] = (media, call, how) =>
    media.images.start({ request, ...call }, { id, ...given({ as: options.as }), ...how });
  await runImageCall(context, options, { id, waitFor, config, store, paid, start });
}

/** An `image` or `edit` call, as read from its options. */
interface ImageCall extends Pick<Run, 'id' | 'config' | 'store' | 'sendsFiles'> {
  readonly waitFor: DurationInput | undefined;
  readonly paid: PaidRequest;
  start(
    media: TemporalMediaClient,
    call: ReturnType<typeof startOf>,
    how: ReturnType<typeof howOf>,
  ): Promise<Started<ImageOutcome>>;
}

async function runImageCall(context: CommandContext, options: ImageOptions, call: ImageCall): Promise<void> {
  const { id, waitFor, config, store, paid, sendsFiles = false } = call;
  const env = effectiveEnvironment(context, options);
  refuseInvalidCall(paid);
  const [start, how] = [startOf(options), howOf(options)];
  const { maySend } = await import('../shared/before-send.js');
  if (!(await maySend(context, { paid, config, env, options }))) return;
  const { runPaid } = await import('../shared/run-paid.js');
  await runPaid(context, {
    config,
    store,
    id,
    out: options.out,
    env,
    detach: options.detach === true,
    sendsFiles,
    showState: false,
    needs: ['image'],
    waitMs: waitMsOf(waitFor),
    announce: `id ${id}`,
    resumeHint: `To continue, run the same command with ${shellWord(`--id=${id}`)}. Nothing is bought twice.`,
    start: (media) => call.start(media, start, how),
  });
}

/** Options shared by `image` and `edit`. */
interface ImageOptions extends PaidOptions {
  readonly size?: string;
  readonly n?: string;
  readonly quality?: string;
  readonly responseFormat?: string;
  readonly waitFor?: string;
  readonly as?: RunAs;
}

function withImageOptions(command: Command): Command {
  return withCommonOptions(
    withSpendOptions(
      withLabelOptions(command)
        .requiredOption('--model <id>', 'public model id, sent exactly as given')
        .requiredOption('--prompt <text>', 'scene, subject, composition, action and style, or what to edit')
        .option('--size <WxH>', 'for example 1024x1024, or auto if the model allows it')
        .option('--n <number>', 'number of results; each result is charged (default: 1)')
        .option('--quality <value>', 'quality, only for models that list qualities')
        .option('--response-format <format>', 'url or b64_json, if enabled for the model')
        .option('--field <name=value>', 'model-specific field; can be repeated', collect)
        .option(
          '--wait-for <duration>',
          'how long to wait before exiting; the call continues (default: until it ends)',
        )
        .option('--account <name>', "name of the worker's credential to use")
        .option('--out <dir>', 'directory for the files', '.')
        .addOption(
          new Option(
            '--as <kind>',
            'what runs the call: an activity without a workflow, or a workflow (default: activity if the server can)',
          ).choices(['workflow', 'activity']),
        )
        .option(
          '--id <id>',
          'id of the call and creation key; reusing an id never buys twice (default: a new id)',
        )
        .option('--detach', 'print the id and return as soon as the call has started'),
    ),
  );
}

/** Converts the options to request fields. The domain's rules validate the values. */
export function imageFields(options: ImageOptions): Pick<ImageGenerationRequest, 'model' | 'prompt'> {
  return {
    model: options.model,
    prompt: options.prompt,
    ...given({
      size: options.size,
      n: numberOption(options.n),
      quality: options.quality,
      responseFormat: options.responseFormat,
    }),
  };
}
