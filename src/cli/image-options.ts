import { type Command } from 'commander';
import { type ImageGenerationRequest } from '../domain/request';
import { collect, withCommonOptions } from './command-context';
import { given } from './given';
import { numberOf, type PaidOptions, withSpendOptions } from './paid-options';

/** Options that `image` and `edit` share. */
export interface ImageOptions extends PaidOptions {
  readonly size?: string;
  readonly n?: string;
  readonly quality?: string;
  readonly responseFormat?: string;
  readonly waitFor?: string;
}

export function withImageOptions(command: Command): Command {
  return withCommonOptions(
    withSpendOptions(
      command
        .requiredOption('--model <id>', 'public model id, sent exactly as given')
        .requiredOption('--prompt <text>', 'scene, subject, composition, action and style; or what to edit')
        .option('--size <WxH>', 'for example 1024x1024, or auto where the model has it')
        .option('--n <number>', 'number of results; more cost more (default: 1)')
        .option('--quality <value>', 'only where the model lists it')
        .option('--response-format <format>', 'url or b64_json, where enabled for the model')
        .option('--field <name=value>', 'model-specific field; may be repeated', collect)
        .option(
          '--wait-for <duration>',
          'how long to wait before the command leaves it running (default: to its end)',
        )
        .option('--account <name>', 'credential name of the worker')
        .option('--out <dir>', 'directory of the files', '.')
        .option(
          '--id <id>',
          'workflow id and creation key: the same id never buys twice (default: a new one)',
        )
        .option('--detach', 'print the id and return as soon as the workflow has started'),
    ),
  );
}

/** The options as fields of a request; what they hold is judged by the domain's rules. */
export function imageFields(options: ImageOptions): Pick<ImageGenerationRequest, 'model' | 'prompt'> {
  return {
    model: options.model,
    prompt: options.prompt,
    ...given({
      size: options.size,
      n: numberOf(options.n),
      quality: options.quality,
      responseFormat: options.responseFormat,
    }),
  };
}
