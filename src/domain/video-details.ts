import { detailsText, inCode } from './details-text';
import { type VideoState } from './video-state';

/** A status word that says nothing but a status; the service may send anything. */
const WORD = /^[a-z][a-z _-]{0,31}$/;

const TITLES: { readonly [phase in VideoState['phase']]: string } = {
  creating: 'Creating',
  waiting_to_create: 'Waiting to create',
  unconfirmed: 'Unconfirmed: waits for a decision',
  watching: 'Watching',
  downloading: 'Downloading',
  done: 'Done',
};

/** The details panel of a video workflow in the UI: the facts of the query `video_state` as Markdown (architecture: Poll). */
export function videoDetails(state: VideoState): string {
  const { account } = state.video ?? { account: null };
  return detailsText(title(state), state.safe, [
    ['task', code(state.taskId)],
    ['account', code(account)],
    ['creation key', code(state.creationKey)],
    ['next create', state.nextCreateAt],
    ['because', code(state.waitingFor)],
    ['refused sends', state.sends === 0 ? null : String(state.sends)],
    ['deadline', state.deadlineAt],
    ['next poll', state.nextPollAt],
    ['polls', polls(state)],
    ['last change', state.lastChangeAt],
    ['trouble', trouble(state)],
  ]);
}

function title({ phase, outcome, watch }: VideoState): string {
  if (phase === 'done') return outcome === null ? TITLES.done : `${TITLES.done}: ${outcome}`;
  if (phase !== 'watching' || watch === null || watch.lastStatus === null) return TITLES[phase];
  const word = WORD.test(watch.lastStatus) ? watch.lastStatus : 'a status of its own';
  // No number of ours where the service sent none (C2.2.4).
  return `${TITLES.watching}: ${word}${watch.progress === undefined ? '' : `, ${watch.progress} %`}`;
}

function polls({ polls: count, lastPollAt, lastHttpStatus, watch }: VideoState): string | null {
  if (watch === null || lastPollAt === null) return null;
  return `${count}, the last at ${lastPollAt}${lastHttpStatus === null ? '' : ` with HTTP ${lastHttpStatus}`}`;
}

function trouble({ watch, consecutiveErrors }: VideoState): string | null {
  if (watch?.lastError === undefined) return null;
  const inARow = consecutiveErrors > 1 ? `, ${consecutiveErrors} times in a row` : '';
  return `${watch.lastError.class}${inARow}`;
}

const code = (text: string | null): string | null => (text === null ? null : inCode(text));
