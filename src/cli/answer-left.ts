import { type CommandContext } from './context';
import { EXIT } from './exit-codes';
import { type LeftRunning } from './json-output';
import { statusLine } from './report';

/** Ends a command whose `--wait-for` expired before the workflow ended: a success, like `still_running`. */
export function answerLeft(context: CommandContext, left: LeftRunning, resumeHint: string): void {
  const { report } = context;
  const doing = left.state === null ? undefined : statusLine(left.state);
  const what = doing === undefined ? '' : ` (${doing})`;
  report.say(`Still running${what}. --wait-for is over; the workflow goes on, nothing was cancelled.`);
  report.say(`Go on with: ${resumeHint}`);
  context.exitCode = EXIT.stillRunning;
  report.reply({ ok: true, data: left });
}
