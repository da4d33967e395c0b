import { type VideoState } from '../domain/video-state';

/** One line about a video workflow; undefined when there is nothing left to wait for. */
export function statusLine(state: VideoState): string | undefined {
  const { phase, taskId, watch } = state;
  const task = `task ${taskId ?? 'unknown'}`;
  switch (phase) {
    case 'creating':
      return `creating${state.sends > 0 ? `, try ${state.sends + 1}` : ''}`;
    case 'waiting_to_create': {
      const reason = state.waitingFor === null ? '' : ` (${state.waitingFor})`;
      return `waiting to create${reason}${state.nextCreateAt === null ? '' : `, next try at ${state.nextCreateAt}`}`;
    }
    case 'unconfirmed':
      return 'unconfirmed: waits for a decision (adopt, declareLost or resubmit)';
    case 'watching':
      return `${task}: ${watch?.lastStatus ?? 'no status yet'}${percentage(state)}${trouble(state)}`;
    case 'downloading':
      return `${task}: downloading`;
    case 'done':
      return undefined;
  }
}

/** Only when the service sent a number (C2.2.4). */
function percentage({ watch }: VideoState): string {
  return watch?.progress === undefined ? '' : ` ${watch.progress} %`;
}

function trouble({ watch }: VideoState): string {
  if (watch?.lastError === undefined) return '';
  const { class: kind, httpStatus } = watch.lastError;
  return ` (last poll: ${kind}${httpStatus === undefined ? '' : ` ${httpStatus}`})`;
}
