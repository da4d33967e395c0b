import { randomUUID } from 'node:crypto';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { FileArtifactStore } from '../artifacts/file-store';
import { ConfigurationError, type MediaConfig } from '../config';
import { type DurationInput } from '../domain/workflow-inputs';
import { badInput } from './cli-error';
import { type Command } from 'commander';
import { type CommonOptions } from './command-context';
import { durationOf } from './duration-option';
import { type SpendOptions } from './spend/before-send';

/** Options of every command that may cost money. */
export interface PaidOptions extends CommonOptions, SpendOptions {
  readonly model: string;
  readonly prompt: string;
  readonly field?: readonly string[];
  readonly account?: string;
  readonly id?: string;
  readonly out: string;
  readonly detach?: boolean;
  readonly again?: boolean;
}

/** Options that see to the money of a paid command. */
export function withSpendOptions(command: Command): Command {
  return command
    .option('--dry-run', 'show the request and the estimate; sends nothing and needs no server')
    .option(
      '--max-spend <amount>',
      'ask before a start that may cost more: 0.50, 0.50USD (default: MEDIA_MAX_SPEND)',
    )
    .option('-y, --yes', 'agree to a cost above --max-spend, or unknown')
    .option('--again', 'send although it was refused under this id before, or is unconfirmed under another');
}

/** What the help of a paid command says about money. */
export const SPEND_HELP = `
Estimates come from the price rules of the model configuration as \`temporal-media models\` shows it; without a rule they are
unknown, never 0. --max-spend asks at a terminal before every start, also of an id that was bought before, and ends with
exit code 6 where nobody can be asked.
While the same request is unconfirmed under another id nothing is sent (exit code 7): settle that one first
(\`temporal-media unconfirmed\`), or say --again. A request that the service refused is sent again under its id when it is
corrected, or with --again as it is.
`;

/** The store that this command shares with the worker. @throws ConfigurationError */
export function openStore(config: MediaConfig): ArtifactStore {
  if (/^[a-z0-9]+:\/\//i.test(config.artifacts))
    throw new ConfigurationError(
      'MEDIA_ARTIFACTS',
      'must be a directory; other stores are not built in yet.',
    );
  return new FileArtifactStore(config.artifacts);
}

const LONGEST_ID = 200;

/** The id given, or a new one: workflow id, creation key and name of the files at once. @throws CliError */
export function idOf(given: string | undefined, kind: string): string {
  if (given === undefined) return `${kind}-${randomUUID()}`;
  // eslint-disable-next-line no-control-regex
  if (given.trim() !== '' && given.length <= LONGEST_ID && !/[\u0000-\u001f\u007f]/.test(given)) return given;
  const message = `must be a text of 1 to ${LONGEST_ID} characters without control characters.`;
  throw badInput([{ field: '--id', message }]);
}

/** @throws CliError for what is no duration */
export function waitForOf(text: string | undefined): DurationInput | undefined {
  if (text === undefined) return undefined;
  if (durationOf(text) !== undefined) return text;
  throw badInput([
    { field: '--wait-for', message: 'must be a duration with its unit, such as 90s, 15m, 2h or 3d.' },
  ]);
}

/** The milliseconds of such a duration. */
export function waitMsOf(waitFor: DurationInput | undefined): number | undefined {
  return waitFor === undefined ? undefined : durationOf(String(waitFor));
}

/** Text that should be a number; the domain's rules judge what it is. */
export function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : text.trim() === '' ? NaN : Number(text);
}
