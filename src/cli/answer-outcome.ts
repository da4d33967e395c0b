import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { type CommandContext } from './command-context';
import { reportOutcome } from './outcome-report';
import { type SavedResults } from './save-results';

/** Ends a command with an outcome: words for people, paths of what was saved, the envelope, the exit code. */
export function answerOutcome(
  context: CommandContext,
  outcome: VideoOutcome | ImageOutcome,
  workflowId: string,
  saved?: SavedResults,
): void {
  const { report } = context;
  const { ok, exitCode, error, lines } = reportOutcome(outcome);
  for (const line of lines) report.say(line);
  for (const file of saved?.files ?? []) report.result(file);
  context.exitCode = exitCode;
  const data = { ...outcome, workflowId, ...saved };
  if (error === undefined) report.reply({ ok, data });
  else report.fail(error, data);
}
