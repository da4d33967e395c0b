import { type Command } from 'commander';
import { type MediaConfig, readConfig } from '../config';
import { type ExitCode } from './exit-codes';
import { withOutputOptions } from './output-format';
import { type Report } from './report';

/** What every command works with. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  /** In the format that the words of the command line seem to ask for; parsed options correct it before an action. */
  report: Report;
  exitCode: ExitCode;
}

export interface CommonOptions {
  readonly dataDir?: string;
}

/** Options that every command has. */
export function withCommonOptions(command: Command): Command {
  return withOutputOptions(
    command.option('--data-dir <dir>', 'data directory (default: MEDIA_DATA_DIR, else .data)'),
  );
}

/** The environment with the flags on top: flag > environment > default (architecture: Configuration). */
export function effectiveEnvironment(context: CommandContext, options: CommonOptions): NodeJS.ProcessEnv {
  return options.dataDir === undefined ? context.env : { ...context.env, MEDIA_DATA_DIR: options.dataDir };
}

/** @throws ConfigurationError */
export function effectiveConfig(context: CommandContext, options: CommonOptions): MediaConfig {
  return readConfig(effectiveEnvironment(context, options));
}

/** For options that may be given several times; their order is kept. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
