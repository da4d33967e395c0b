import { type Command } from 'commander';
import { type VideoRequest } from 'temporal-media';
import { given } from 'temporal-media/internal/domain/json';
import { DEFAULT_WAIT_MS } from 'temporal-media/internal/domain/timeouts';
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
  POLLING_HELP,
  pollingOf,
  readFields,
  readReferenceOptions,
  SPEND_HELP,
  startOf,
  waitForOf,
  waitMsOf,
  withLabelOptions,
  withSpendOptions,
} from '../shared/paid-options';
import { commandFor } from '../shared/text';

interface VideoOptions extends PaidOptions {
  readonly duration?: string;
  readonly resolution?: string;
  readonly aspectRatio?: string;
  readonly reference?: readonly string[];
  readonly waitFor?: string;
  readonly polling?: string;
}

/** Adds `video`, which creates a video once, waits for it and saves the file. */
export function addVideoCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    withSpendOptions(
      withLabelOptions(
        program
          .command('video')
          .description('create a video, wait for it and save the file')
          .requiredOption('--model <id>', 'public model id, sent exactly as given')
          .requiredOption('--prompt <text>', 'description of scene, motion, camera and audio')
          .option('--duration <seconds>', 'duration in whole seconds, if the model allows it')
          .option('--resolution <value>', 'resolution, for example 720p, if the model allows it')
          .option('--aspect-ratio <ratio>', 'aspect ratio, for example 16:9, if the model allows it')
          .option('--reference <kind=source>', 'image, video or audio=FILE_OR_URL; can be repeated', collect)
          .option('--field <name=value>', 'model-specific field; can be repeated', collect)
          .option('--account <name>', "name of the worker's credential to use")
          .option(
            '--wait-for <duration>',
            'how long to wait before exiting; the video continues: 90s, 15m, 2h, 3d (default: 15m)',
          )
          .option('--polling <mode>', POLLING_HELP)
          .option('--out <dir>', 'directory for the file', '.')
          .option(
            '--id <id>',
            'workflow id and creation key; reusing an id never buys twice (default: a new id)',
          )
          .option('--detach', 'print the id and return as soon as the workflow has started'),
      ),
    ),
  )
    .addHelpText('after', HELP)
    .action(async (options: VideoOptions) => video(context, options));
}

const HELP = `
Repeating a request with the same id attaches to the running workflow or returns its result. Ctrl-C detaches without
canceling anything. Exit code 75 means that the video is still running: continue with \`temporal-media resume\`.
${SPEND_HELP}
Examples:
  $ temporal-media video --model cine-1 --prompt "a lighthouse at dusk" --duration 4 --resolution 720p --out out
  $ temporal-media video --model motion-omni --prompt "it turns" --reference image=product.png --id sku-1
  $ temporal-media video --model cine-1 --prompt "a storm" --field camera=pan --detach
`;

async function video(context: CommandContext, options: VideoOptions): Promise<void> {
  const id = idOf(options.id, 'video');
  const waitFor = waitForOf(options.waitFor);
  const polling = pollingOf(options.polling);
  const config = effectiveConfig(context, options);
  const store = await openArtifactStore(config);
  const env = effectiveEnvironment(context, options);
  const references = await readReferenceOptions(
    options.dryRun === true ? (await import('../shared/dry-run.js')).measuringStore : store,
    options.reference ?? [],
  );
  const request = {
    model: options.model,
    prompt: options.prompt,
    ...given({
      durationSeconds: numberOption(options.duration),
      resolution: options.resolution,
      aspectRatio: options.aspectRatio,
      references: references.length === 0 ? undefined : references,
      fields: readFields(options.field),
    }),
  } as VideoRequest;
  const paid = { operation: 'create_video', request } as const;
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
    sendsFiles: references.some(({ source }) => 'artifact' in source),
    showState: true,
    needs: ['create', 'poll', 'download'],
    waitMs: waitMsOf(waitFor) ?? DEFAULT_WAIT_MS,
    announce: `id ${id}`,
    resumeHint: commandFor('resume', id),
    start: (media) =>
      media.startVideo(
        {
          request,
          ...given({ waitFor, polling }),
          ...start,
        },
        { id, ...how },
      ),
  });
}
