import { type VideoState } from '../domain/video-state';

/** One line about a video workflow; a percentage only when the service sent a number (C2.2.4). */
export function statusLine(state: VideoState): string {
  const { phase, video, watch } = state;
  switch (phase) {
    case 'creating':
      return 'creating';
    case 'waiting_to_create': {
      const reason = state.waitingFor === null ? '' : ` (${state.waitingFor})`;
      return `waiting to create${reason}${state.nextCreateAt === null ? '' : `, next try at ${state.nextCreateAt}`}`;
    }
    case 'watching': {
      const shown = watch?.progress === undefined ? '' : ` ${watch.progress} %`;
      const trouble =
        watch?.lastError === undefined
          ? ''
          : ` (last poll: ${watch.lastError.class}${watch.lastError.httpStatus === undefined ? '' : ` ${watch.lastError.httpStatus}`})`;
      return `task ${video?.taskId ?? 'unknown'}: ${watch?.lastStatus ?? 'no status yet'}${shown}${trouble}`;
    }
    case 'downloading':
      return `task ${video?.taskId ?? 'unknown'}: downloading`;
    case 'done':
      return 'done';
  }
}
