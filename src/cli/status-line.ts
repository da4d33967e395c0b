import { type VideoState } from '../domain/video-state';

/** One line about a video workflow; undefined when there is nothing left to wait for. */
export function statusLine(state: VideoState): string | undefined {
  const { phase, taskId, watch } = state;
  const task = `task ${taskId == null ? 'unknown' : shortId(taskId)}`;
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
      return `${task}: downloading${watch?.expiresAt === undefined ? '' : `, kept by the service until ${watch.expiresAt}`}`;
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
  const { class: kind, httpStatus, reason } = watch.lastError;
  const said = reason?.message ?? reason?.code ?? '';
  return ` (last poll: ${kind}${httpStatus === undefined ? '' : ` ${httpStatus}`}${said === '' ? '' : `: ${said}`})`;
}

/** Ids of this length are read at a glance; longer ones would fill every line. */
const LONGEST_ID = 40;

/** An id as it stands in a line that is repeated; the whole one is said once. */
export function shortId(id: string): string {
  return id.length <= LONGEST_ID ? id : `${id.slice(0, 20)}…${id.slice(-8)}`;
}
