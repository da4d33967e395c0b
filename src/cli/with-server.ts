import { type MediaConfig } from '../config';
import { type CommandContext, type CommonOptions, effectiveConfig, effectiveEnvironment } from './context';
import { type Connected } from './connect';

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
