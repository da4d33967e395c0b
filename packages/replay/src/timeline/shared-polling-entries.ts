import { ACTIVITY, SIGNAL } from 'temporal-media/internal/domain/names';
import { readBrought } from './download-entries';
import { failureWords } from './failure-facts';
import { type Operation } from './operations';
import { withoutAnswer, workFacts } from './paid-entries';
import { type PollReader } from './poll-entries';
import { type Story } from './story';
import { type Fact, type Tone } from './timeline';
import { counted, type Fields, fieldsOf, listOf, numberOf, present, textOf } from './values';

const SIGNALS: readonly string[] = [SIGNAL.watchJoin, SIGNAL.watchLeave, SIGNAL.nudge];
const ACTIVITIES: readonly string[] = [ACTIVITY.watchVideo, ACTIVITY.tellVideos, ACTIVITY.deliverVideos];

export const isSharedPolling = ({ kind, name }: Operation): boolean =>
  (kind === 'activity' ? ACTIVITIES : SIGNALS).includes(name);

/** Reads shared polling (architecture: Wait): the messages between a video and its watcher. */
export function readSharedPolling(operation: Operation, story: Story, polls: PollReader): void {
  switch (operation.name) {
    case ACTIVITY.watchVideo:
      readWatch(operation, story, polls);
      return;
    case ACTIVITY.tellVideos:
    case ACTIVITY.deliverVideos:
      readAnswered(operation, story);
      return;
    case SIGNAL.nudge:
      readNudge(operation, story);
      return;
    default:
      readMembers(operation, story);
  }
}

/** Reads the wait for a video: its watcher polls it and reports how the watch ended. */
function readWatch(operation: Operation, story: Story, polls: PollReader): void {
  const { shown } = story;
  const { watcher, state: before } = fieldsOf(operation.input);
  const answer = fieldsOf(operation.result);
  const state = fieldsOf(answer['state']);
  const id = shown.id(fieldsOf(watcher)['workflowId']) ?? '';
  const verdict = shown.word(fieldsOf(answer['verdict'])['kind']);
  const status = shown.word(state['lastStatus']);
  const progress = numberOf(state['progress']);
  const made = pollsIn(state) - pollsIn(fieldsOf(before));
  const known = polls.byWatcher(operation);
  const unknown = Math.max(0, made - (known ?? 0));
  if (verdict !== null) polls.shared(operation, { state, made: unknown });
  const gone =
    known === null || unknown === 0
      ? ''
      : `, ${known === 0 ? '' : 'part of '}whose history the server no longer has`;
  const text =
    verdict !== null
      ? `${counted(made, 'poll')} by the watcher${gone}: ${saidOf(verdict, status)}${failedTry(answer, story)}`
      : operation.end === 'completed'
        ? 'The watcher does not accept more videos'
        : unanswered(operation);
  const facts = {
    ...present<Fact>({ watcher: id, polls: verdict === null ? null : made, status, progress }),
    ...workFacts(operation),
  };
  story.add({ kind: 'watch', tone: toneOf(verdict), text, facts }, operation);
  readBrought(operation, story);
}

/** The activity waits on the server while the watcher polls. Its start is recorded only when it ends. */
function unanswered(operation: Operation): string {
  if (operation.end === 'open') return 'A watcher is polling the video';
  if (operation.end === 'dropped' || operation.end === 'cancelled')
    return 'A watcher polled the video until the video left';
  const why = operation.failure === null ? '' : ` (${failureWords(operation.failure)})`;
  return `No answer from the watcher${why}: the video polls on its own`;
}

const pollsIn = (state: Fields): number => numberOf(state['polls']) ?? 0;

/** Describes the watcher's failed download attempt. The video's own download counts it as the first attempt. */
function failedTry(answer: Fields, story: Story): string {
  const kind = story.shown.word(fieldsOf(fieldsOf(answer['tried'])['problem'])['kind']);
  return kind === null ? '' : `; its download attempt failed (${kind})`;
}

/** Adds the last status to the verdict, unless the verdict is a final record. */
const saidOf = (verdict: string, status: string | null): string =>
  verdict === status || status === null
    ? verdict.replace('_', ' ')
    : `${verdict.replace('_', ' ')}, last ${status}`;

function toneOf(verdict: string | null): Tone {
  if (verdict === 'completed') return 'plain';
  return verdict === 'failed' || verdict === 'task_unknown' ? 'bad' : 'wait';
}

/** Reads an activity in which a watcher reports ended watches to their videos and possibly delivers files. */
function readAnswered(operation: Operation, story: Story): void {
  const isDelivery = operation.name === ACTIVITY.deliverVideos;
  const input = fieldsOf(operation.input);
  const answered = listOf(input[isDelivery ? 'deliveries' : 'told']).map((one) => fieldsOf(one));
  const ends = new Map<string, number>();
  for (const { answer } of answered) {
    const { kind, verdict } = fieldsOf(answer);
    const end = story.shown.word(kind === 'full' ? 'not accepted' : fieldsOf(verdict)['kind']) ?? 'ended';
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  const isOver = operation.end === 'completed';
  const counts = [...ends].map(([end, count]) => `${count} ${end.replace('_', ' ')}`).join(', ');
  const rest = isOver ? '' : `; ${withoutAnswer(operation).text}`;
  const facts = {
    ...present<Fact>({ videos: answered.slice(0, SHOWN).map(({ waiter }) => videoOf(waiter, story)) }),
    ...workFacts(operation),
  };
  const tone = isOver ? 'good' : withoutAnswer(operation).tone;
  const said = isDelivery ? 'Sent files and results to' : 'Sent results to';
  const text = `${said} ${counted(answered.length, 'video')}: ${counts}${rest}`;
  story.add({ kind: 'told', tone, text, facts }, operation);
}

/** Maximum number of videos that an entry lists. */
const SHOWN = 100;

const videoOf = (waiter: unknown, story: Story): string =>
  story.shown.id(fieldsOf(waiter)['workflowId']) ?? '';

function readNudge(operation: Operation, story: Story): void {
  const isSent = operation.kind === 'sent_signal';
  const workflowId = story.shown.id(textOf(operation.input));
  const text = isSent
    ? `Nudge forwarded to the watcher${operation.end === 'failed' ? ', which no longer exists' : ''}`
    : `Nudged${workflowId === null ? '' : ` for ${workflowId}`}: the next poll runs as soon as possible`;
  story.add(
    {
      kind: 'nudge',
      tone: operation.end === 'failed' ? 'wait' : 'plain',
      text,
      facts: present<Fact>({ workflowId }),
    },
    operation,
  );
}

/** Reads videos joining a watcher, or a video leaving it. */
function readMembers(operation: Operation, story: Story): void {
  if (operation.name === SIGNAL.watchJoin) {
    const videos = listOf(operation.input).map((join) => videoOf(fieldsOf(join)['waiter'], story));
    const [only] = videos;
    const who = videos.length === 1 && only !== undefined ? only : counted(videos.length, 'video');
    const text = `${who} joined`;
    story.add({ kind: 'watch', text, facts: { videos: videos.slice(0, SHOWN) } }, operation);
    return;
  }
  const isSent = operation.kind === 'sent_signal';
  const text = isSent
    ? `Left the watcher${operation.end === 'failed' ? ', which no longer exists' : ''}`
    : `${videoOf(operation.input, story)} left`;
  story.add({ kind: 'watch', tone: 'wait', text }, operation);
}
