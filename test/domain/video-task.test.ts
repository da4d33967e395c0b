import { activityQueues, mediaJournalScheduleId } from '../../src/domain/names';
import {
  artifactUri,
  isArtifactRef,
  type ReferenceKind,
  referenceModeOf,
  sha256OfArtifactUri,
} from '../../src/domain/request';
import { isUsableTaskId, MAX_TASK_ID_LENGTH, videoTaskById } from '../../src/domain/video-task';

describe('a task id', () => {
  it.each([
    'task-1',
    'a',
    ' padded ',
    '../../x',
    '%2e%2e',
    'a/b?c#d',
    '…',
    '🎬',
    '...',
    'x'.repeat(MAX_TASK_ID_LENGTH),
  ])('[C2.2.1] %j is opaque and kept as it is', (id) => {
    expect(isUsableTaskId(id)).toBe(true);
    expect(() => encodeURIComponent(id)).not.toThrow();
  });

  it.each([
    undefined,
    null,
    7,
    {},
    '',
    '  ',
    '.',
    '..',
    'a\u0000b',
    'a\nb',
    '\u007f',
    '\ud800',
    'x'.repeat(MAX_TASK_ID_LENGTH + 1),
  ])('%j is none', (id) => {
    expect(isUsableTaskId(id)).toBe(false);
  });

  it('alone leaves every other fact unknown, and says so', () => {
    expect(videoTaskById('task-1', 'a@00000000')).toEqual({
      taskId: 'task-1',
      model: null,
      durationSeconds: null,
      resolution: null,
      referenceMode: null,
      account: 'a@00000000',
      polling: { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 4 },
      createdAt: null,
      source: 'unknown',
    });
  });
});

describe('references as kept facts', () => {
  const of = (...kinds: ReferenceKind[]) =>
    referenceModeOf(kinds.map((kind) => ({ kind, source: { url: 'https://a.example' } })));

  it('are kinds with counts, or none', () => {
    expect(referenceModeOf(undefined)).toBe('none');
    expect(of()).toBe('none');
    expect(of('audio', 'image', 'image')).toBe('image:2+audio:1');
    expect(of('video')).toBe('video:1');
  });
});

describe('an artifact', () => {
  const sha256 = 'ab'.repeat(32);
  const ref = { uri: artifactUri(sha256), mediaType: 'image/png', bytes: 1, sha256 };

  it('is named by its hash', () => {
    expect(sha256OfArtifactUri(ref.uri)).toBe(sha256);
    for (const uri of [`${ref.uri}0`, ref.uri.toUpperCase(), 'artifact:sha256/..', `file:${sha256}`, ''])
      expect(sha256OfArtifactUri(uri)).toBeUndefined();
  });

  it('is one of ours only when uri and hash agree', () => {
    expect(isArtifactRef(ref)).toBe(true);
    for (const value of [null, 'x', {}, { ...ref, sha256: 'cd'.repeat(32) }, { ...ref, bytes: '1' }])
      expect(isArtifactRef(value)).toBe(false);
  });
});

it('names of queues and of their bindings are API', () => {
  expect(mediaJournalScheduleId('videos')).toBe('media-journal/videos');
  // One binding for a worker's queue and those beside it.
  for (const queue of Object.values(activityQueues('videos')))
    expect(mediaJournalScheduleId(queue)).toBe('media-journal/videos');
});
