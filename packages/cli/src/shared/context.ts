import { resolve } from 'node:path';
import { type Command } from 'commander';
import { readConfig } from 'temporal-media/internal/settings/config';
import { type MediaConfig } from 'temporal-media/worker';
import { type Connected } from './connect';
import { type ExitCode } from './exit-codes';
import { type Report, withOutputOptions } from './report';

/** The context of every command. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  /** Its output format is first guessed from the raw arguments, then corrected after they have been parsed. */
  report: Report;
  exitCode: ExitCode;
}

export interface CommonOptions {
  readonly dataDir?: string;
}

/** Adds `--data-dir` and the output options. */
export function withCommonOptions(command: Command): Command {
  return withOutputOptions(
    command.option('--data-dir <dir>', 'data directory (default: MEDIA_DATA_DIR or .data)'),
  );
}

/** Returns the environment, overridden by flags: flag > environment > default (architecture: Configuration). */
export function effectiveEnvironment(
  context: Pick<CommandContext, 'env'>,
  options: CommonOptions,
): NodeJS.ProcessEnv {
  // Resolved here, because a relative path refers to the directory where the command runs.
  return options.dataDir === undefined
    ? context.env
    : { ...context.env, MEDIA_DATA_DIR: resolve(options.dataDir) };
}

/** @throws ConfigurationError */
export function effectiveConfig(context: Pick<CommandContext, 'env'>, options: CommonOptions): MediaConfig {
  return readConfig(effectiveEnvironment(context, options));
}

/** Collects the values of a repeatable option, in order. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** Runs `work` with a connection to the Temporal server. @throws CliError */
export async function withServer(
  context: CommandContext,
  options: CommonOptions,
  work: (connected: Connected, config: MediaConfig) => Promise<void>,
): Promise<void> {
  const config = effectiveConfig(context, options);
  const { connect } = await import('./connect.js');
  await work(await connect(config, effectiveEnvironment(context, options)), config);
}
