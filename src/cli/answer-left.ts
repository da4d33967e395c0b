import { type VideoState } from '../domain/video-state';
import { type CommandContext } from './context';
import { EXIT } from './exit-codes';
import { statusLine } from './report';

/** A workflow that the command no longer waits for, as scripts read it: there is no outcome yet. */
export interface LeftRunning {
  readonly workflowId: string;
  readonly runId: string;
  readonly isNew: boolean;
  readonly url?: string;
  /** What it did last; null when nobody said. */
  readonly state: VideoState | null;
}

/** Ends a command whose `--wait-for` is over before the workflow: a success, as a wait that ends with `still_running` is. */
export function answerLeft(context: CommandContext, left: LeftRunning, resumeHint: string): void {
  const { report } = context;
  const doing = left.state === null ? undefined : statusLine(left.state);
  const what = doing === undefined ? '' : ` (${doing})`;
  report.say(`Still running${what}. --wait-for is over; the workflow goes on, nothing was cancelled.`);
  report.say(`Go on with: ${resumeHint}`);
  context.exitCode = EXIT.stillRunning;
  report.reply({ ok: true, data: left });
}
