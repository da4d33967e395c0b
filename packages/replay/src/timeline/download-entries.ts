import { ACTIVITY } from 'temporal-media/internal/domain/names';
import { type Operation } from './operations';
import { withoutAnswer, workFacts } from './paid-entries';
import { type Said, type Story } from './story';
import { type Fact, type Facts } from './timeline';
import { counted, fieldsOf, listOf, numberOf, present, shownBytes, shownSpan, textOf } from './values';

interface Fetched {
  readonly bytes: number;
  readonly sha256: string | null;
  readonly mediaType: string | null;
}

function fetchedOf(artifact: unknown, story: Story): Fetched | null {
  const fields = fieldsOf(artifact);
  const bytes = numberOf(fields['bytes']);
  if (bytes === null) return null;
  return {
    bytes,
    sha256: story.shown.hash(fields['sha256']),
    mediaType: story.shown.word(fields['mediaType']),
  };
}

/** Reads one video's download, with all attempts. */
export function readDownload(operation: Operation, story: Story): void {
  const result = fieldsOf(operation.result);
  const said = downloadSaid(operation, story);
  const video = fieldsOf(fieldsOf(operation.input)['video']);
  const facts = {
    ...present<Fact>({
      taskId: story.shown.id(video['taskId']),
      outcome: story.shown.word(result['outcome']),
    }),
    ...said.facts,
    ...workFacts(operation),
  };
  const entry = story.add(
    { kind: 'download', tone: said.tone ?? 'plain', text: `Download: ${said.text}`, facts },
    operation,
  );
  story.limits.set(`${operation.run}/${operation.command}`, entry);
}

function downloadSaid(operation: Operation, story: Story): Omit<Said, 'kind'> {
  const result = fieldsOf(operation.result);
  const outcome = textOf(result['outcome']);
  if (outcome === 'downloaded') {
    const file = fetchedOf(result['artifact'], story);
    const warnings = listOf(result['warnings']).length;
    // After a retry, the history has only the last attempt's start, so a computed speed would be too high.
    const ms =
      operation.attempt > 1 || operation.startedAt === null ? null : operation.until - operation.startedAt;
    const speed = file === null || ms === null || ms <= 0 ? null : Math.round((file.bytes * 1000) / ms);
    const facts = present<Fact>({
      ...file,
      bytesPerSecond: speed,
      warnings: warnings === 0 ? null : warnings,
    });
    const size = file === null ? 'stored' : `${shownBytes(file.bytes)} stored`;
    const rate = speed === null ? '' : ` (${shownBytes(speed)}/s)`;
    return { tone: 'good', text: `${size}${spanOf(operation)}${rate}`, facts };
  }
  if (outcome === 'content_unavailable') {
    const reason = story.shown.word(result['reason']);
    const tries = numberOf(result['tries']) ?? operation.attempt;
    const rejected = fetchedOf(result['rejected'], story);
    const refused = rejected === null ? '' : `; the rejected file (${shownBytes(rejected.bytes)}) was kept`;
    const status = numberOf(result['httpStatus']);
    const facts = present<Fact>({
      reason,
      tries,
      httpStatus: status,
      rejected: rejected === null ? null : present<Fact>({ ...rejected }),
    });
    const http = status === null ? '' : `, HTTP ${status}`;
    return {
      tone: 'bad',
      text: `no file (${reason}${http}) after ${counted(tries, 'attempt', 'attempts')}${refused}`,
      facts,
    };
  }
  return withoutAnswer(operation);
}

/** Reads the file that a watcher returned at the end of its watch. */
export function readBrought(watch: Operation, story: Story): void {
  const { downloaded, state } = fieldsOf(watch.result);
  const result = fieldsOf(downloaded);
  const file = fetchedOf(result['artifact'], story);
  if (file === null) return;
  const warnings = listOf(result['warnings']).length;
  const facts = present<Fact>({
    taskId: story.shown.id(fieldsOf(fieldsOf(state)['video'])['taskId']),
    outcome: story.shown.word(result['outcome']),
    ...file,
    warnings: warnings === 0 ? null : warnings,
  });
  const text = `Download: ${shownBytes(file.bytes)} stored by the watcher`;
  const operation = { ...watch, at: watch.until, ids: [] };
  story.add({ kind: 'download', tone: 'good', text, facts }, operation);
}

const spanOf = ({ at, until }: Operation): string => ` in ${shownSpan(until - at)}`;

/** Reads one download attempt for several videos in a batch. */
export function readDownloads(operation: Operation, story: Story): void {
  const asked = listOf(fieldsOf(operation.input)['videos']).length;
  const files = listOf(fieldsOf(operation.result)['results']).flatMap((result) => {
    const file = fetchedOf(fieldsOf(result)['artifact'], story);
    return file === null ? [] : [file];
  });
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const isOver = operation.end === 'completed';
  const later = asked - files.length;
  const text = isOver
    ? `${files.length} of ${counted(asked, 'file')} stored (${shownBytes(bytes)})${spanOf(operation)}${later > 0 ? `; ${later} will be retried separately` : ''}`
    : withoutAnswer(operation).text;
  const facts: Facts = { asked, stored: files.length, bytes, ...workFacts(operation) };
  const tone = isOver ? (later > 0 ? 'wait' : 'good') : withoutAnswer(operation).tone;
  story.add({ kind: 'download', tone: tone ?? 'plain', text: `Downloads: ${text}`, facts }, operation);
}

const LOOKUP_TEXTS: { readonly [activity: string]: string } = {
  [ACTIVITY.findVideoTask]: 'Looked up the task in the journal',
  [ACTIVITY.artifactStore]: "Identified the worker's artifact store",
  [ACTIVITY.reviewJournal]: 'Read a page of the journal',
};

/** Reads an activity that looks something up and pays nothing. */
export function readLookUp(operation: Operation, story: Story): void {
  const result = fieldsOf(operation.result);
  const video = fieldsOf(result['video']);
  const isOver = operation.end === 'completed';
  const facts = {
    ...present<Fact>({
      taskId: story.shown.id(video['taskId']),
      creationKey: story.shown.id(result['creationKey']),
      workflowId: story.shown.id(result['workflowId']),
      storeId: story.shown.id(result['storeId']),
      scanned: numberOf(result['scanned']),
      unconfirmed: Array.isArray(result['unconfirmed']) ? result['unconfirmed'].length : null,
      created: Array.isArray(result['created']) ? result['created'].length : null,
      decided: Array.isArray(result['decided']) ? result['decided'].length : null,
    }),
    ...workFacts(operation),
  };
  const known = operation.name === ACTIVITY.findVideoTask && isOver && result['creationKey'] === null;
  const rest = isOver ? (known ? ': no record found' : '') : `: ${withoutAnswer(operation).text}`;
  const tone = isOver ? 'plain' : withoutAnswer(operation).tone;
  story.add(
    { kind: 'look_up', tone, text: `${LOOKUP_TEXTS[operation.name] ?? 'Looked up'}${rest}`, facts },
    operation,
  );
  if (operation.name === ACTIVITY.findVideoTask && isOver) {
    story.taskId ??= story.shown.id(video['taskId']);
    story.creationKey ??= story.shown.id(result['creationKey']);
    story.model ??= story.shown.word(video['model']);
    story.account ??= story.shown.id(video['account']);
  }
}
