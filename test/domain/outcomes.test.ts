import { type DownloadVideoResult } from '../../src/domain/download';
import {
  completed,
  unavailableContent,
  differences,
  failed,
  mayRetry,
  requestedFacts,
  stillRunning,
  unknownTask,
  type VideoEnd,
} from '../../src/domain/end-of-wait';
import { billing } from '../../src/domain/money';
import { imageOutcome, outcomes } from '../../src/domain/outcome';
import { evidence, type ImageCallAnswer, type RejectedCall } from '../../src/domain/paid-call';
import { type ErrorKind, videoTaskById } from '../../src/domain/video-task';
import { beginWatch, onRecord, onUnchanged } from '../../src/domain/watch-state';
import { answers } from './create-answers';
import { makeVideoTask } from './make-video-task';

const START = Date.UTC(2026, 0, 1);
const video = makeVideoTask({ referenceMode: 'image:2' });
const estimate = { microUnits: 800_000, currency: 'USD' };
const started = beginWatch({ video, now: START, deadlineAt: START + 900_000, firstPollAt: START + 4000 });
const state = onRecord(started, { status: 'in_progress', phase: 'in_progress' }, 'd', START + 4000);
const end: VideoEnd = { estimate, state };
const artifact = { uri: 'artifact:sha256/00', mediaType: 'video/mp4', bytes: 1, sha256: '00' };
const downloaded: Extract<DownloadVideoResult, { outcome: 'downloaded' }> = {
  outcome: 'downloaded',
  artifact,
  sidecar: null,
  reported: {},
  warnings: [],
};
const unavailable: Extract<DownloadVideoResult, { outcome: 'content_unavailable' }> = {
  outcome: 'content_unavailable',
  reason: 'not_ready',
  message: 'not there',
  tries: 20,
  rejected: null,
};
const error = { kind: 'capacity', code: 'busy', message: 'later' } as const;
/** Every outcome of a task that exists. */
const withTask = [
  completed(end, downloaded, {}, []),
  stillRunning(end),
  failed(end, error),
  unavailableContent(end, unavailable),
  unknownTask(end),
  outcomes.cancelled(video, 'key', billing(estimate, 'reserved')),
];

describe('every outcome after creation', () => {
  it.each(withTask.map((outcome) => [outcome.outcome, outcome] as const))(
    '[C4.4b] %s carries the facts that were kept',
    (_, outcome) => {
      expect(outcome.video).toEqual({
        taskId: 'task-1',
        model: 'video-1',
        durationSeconds: 8,
        resolution: '720p',
        referenceMode: 'image:2',
        account: 'default@00000000',
        polling: video.polling,
        createdAt: '2026-01-01T00:00:00.000Z',
        source: 'create_reply',
      });
    },
  );

  it('[C1.6] the number of polls changes neither estimate nor state', () => {
    let polled = state;
    for (let polls = 0; polls < 1000; polls++) polled = onUnchanged(polled, START + polls * 4000);
    const often: VideoEnd = { ...end, state: polled };
    expect(polled.polls).toBe(1001);
    expect(stillRunning(often).billing).toEqual(stillRunning(end).billing);
    expect(failed(often, error).billing).toEqual(failed(end, error).billing);
    expect(completed(often, downloaded, {}, []).billing).toEqual(completed(end, downloaded, {}, []).billing);
  });

  it('[C7.10] an id is no proof that something costs, nor its absence that nothing does', () => {
    expect(withTask.map(({ billing: { state: money } }) => money)).not.toContain('none');
    expect(outcomes.unconfirmed(answers.unconfirmed(0), 'key').billing.state).toBe('needs_review');
  });
});

describe('completed', () => {
  it('[C1.9] without usage needs a look, with usage it is estimated', () => {
    expect(completed(end, downloaded, {}, []).billing).toEqual({
      estimate: 800_000,
      actual: null,
      currency: 'USD',
      state: 'needs_review',
    });
    expect(completed(end, downloaded, { usage: { cost: 1 } }, []).billing).toMatchObject({
      usage: { cost: 1 },
      state: 'estimated',
    });
    expect(
      completed(end, { ...downloaded, usage: { cost: 2 } }, { usage: { cost: 1 } }, []).billing.usage,
    ).toEqual({ cost: 2 });
  });

  it('[C2.2.5] keeps what was reported apart from what was requested, and names each difference once', () => {
    const record = { reported: { model: 'video-1', durationSeconds: 6, fps: 24 } };
    const done = completed(
      end,
      { ...downloaded, reported: { durationSeconds: 6, resolution: '480p' }, warnings: ['odd'] },
      record,
      ['odd', 'kept'],
    );
    expect(done.requested).toMatchObject({ durationSeconds: 8, resolution: '720p' });
    expect(done.reported).toEqual({ model: 'video-1', durationSeconds: 6, resolution: '480p', fps: 24 });
    expect(done.warnings).toEqual([
      'odd',
      'kept',
      'The service reports durationSeconds 6, but 8 was requested.',
      'The service reports resolution 480p, but 720p was requested.',
    ]);
  });

  it('[C2.2.5] nothing reported, or nothing known, is no difference', () => {
    expect(differences(requestedFacts(video), {})).toEqual([]);
    const unknown = requestedFacts(videoTaskById('task-1', 'a@00000000'));
    expect(differences(unknown, { model: 'x', durationSeconds: 1, resolution: 'y' })).toEqual([]);
  });

  it('[C7.9] nothing in it says that references were used: only the mode that was asked for is there', () => {
    const done = completed(end, downloaded, {}, []);
    expect(done.requested.referenceMode).toBe('image:2');
    expect(JSON.stringify({ ...done, requested: undefined, video: undefined })).not.toMatch(/refer|image:2/i);
  });
});

describe('what failed', () => {
  it('[C1.8] stays on the books with its estimate until somebody settles it', () => {
    expect(failed(end, error).billing).toEqual({
      estimate: 800_000,
      actual: null,
      currency: 'USD',
      state: 'needs_review',
    });
    expect(failed(end, error, { usage: { cost: 0 } }).billing).toMatchObject({
      usage: { cost: 0 },
      state: 'needs_review',
    });
  });

  it.each<[ErrorKind, boolean]>([
    ['capacity', true],
    ['moderation', false],
    ['invalid', false],
    ['quota', false],
    ['unknown', false],
  ])('[C7.7] %s carries its error and whether another attempt makes sense', (kind, retryable) => {
    const told = { kind, code: 'code', message: 'text' };
    expect(failed(end, told)).toMatchObject({ outcome: 'failed', error: told, retryable });
    expect(mayRetry(kind)).toBe(retryable);
  });
});

describe('messages', () => {
  it('[C7.2] an unknown task: check the id and the path; no failed video, no reason to create', () => {
    const { message, outcome } = unknownTask(end);
    expect(outcome).toBe('task_unknown');
    expect(message).toMatch(/Check the id, the account/);
    expect(message).toMatch(/\/v1\/videos\/\{task_id\}/);
    expect(message).toMatch(/has not necessarily failed/);
    expect(message).toMatch(/do not create another one/);
  });

  it('[C7.11] an unconfirmed 500 may be from before a task existed', () => {
    const of = (httpStatus: number | null) =>
      outcomes.unconfirmed({ ...answers.unconfirmed(0), evidence: evidence('http', { httpStatus }) }, 'key')
        .message;
    expect(of(500)).toMatch(/before a task existed.*parsing.*capability validation/);
    expect(of(502)).not.toMatch(/before a task existed/);
    expect(of(null)).toMatch(/unknown whether the service accepted/);
  });

  it('[C7.12] and is no proof of a fault of the provider', () => {
    const call = { ...answers.unconfirmed(0), evidence: evidence('http_500', { httpStatus: 500 }) };
    expect(outcomes.unconfirmed(call, 'key').message).toMatch(/is not proof of a provider fault/);
  });

  it('[C4.4c] an unconfirmed create says that it is not sent again before somebody looked', () => {
    const { message, creationKey, sendAttempt } = outcomes.unconfirmed(answers.unconfirmed(2), 'key');
    expect(message).toMatch(/sent once and will not be sent again/);
    expect(message).toMatch(/task records/);
    expect({ creationKey, sendAttempt }).toEqual({ creationKey: 'key', sendAttempt: 2 });
  });
});

describe('still running', () => {
  it('[C3.4] is no failure: it keeps the task, the last word and what was polled', () => {
    expect(stillRunning(end)).toEqual({
      outcome: 'still_running',
      video,
      lastStatus: 'in_progress',
      lastChangeAt: '2026-01-01T00:00:04.000Z',
      lastPollAt: '2026-01-01T00:00:04.000Z',
      polls: 1,
      billing: { estimate: 800_000, actual: null, currency: 'USD', state: 'reserved' },
    });
    expect(stillRunning(end, 'completed').lastStatus).toBe('completed');
  });
});

describe('rejected', () => {
  it('[C7.1] names the field and what is allowed, and leaves the bill to a person', () => {
    const call: RejectedCall = {
      ...answers.rejected(0, 'invalid_request'),
      field: 'resolution',
      allowed: ['720p', '1080p'],
      httpStatus: 400,
    };
    expect(outcomes.rejected(call, 'key', 1)).toEqual({
      outcome: 'rejected',
      creationKey: 'key',
      reason: 'invalid_request',
      message: 'no',
      field: 'resolution',
      allowed: ['720p', '1080p'],
      httpStatus: 400,
      sends: 1,
      billing: { estimate: null, actual: null, currency: null, state: 'needs_review' },
    });
  });

  it('before anything was sent, it says so', () => {
    expect(outcomes.refusedBeforeSend('invalid_request', 'm', 'n', ['1'])).toMatchObject({
      sends: 0,
      creationKey: null,
      field: 'n',
      allowed: ['1'],
      billing: { state: 'none' },
    });
    expect(outcomes.refusedBeforeSend('invalid_request', 'm', 'n')).not.toHaveProperty('allowed');
  });
});

describe('content unavailable', () => {
  it('[C4.2] keeps the task and the estimate, and is no failed video', () => {
    const lost = unavailableContent(end, { ...unavailable, httpStatus: 404 });
    expect(lost).toMatchObject({
      outcome: 'content_unavailable',
      video,
      reason: 'not_ready',
      httpStatus: 404,
    });
    expect(lost.billing).toMatchObject({ estimate: 800_000, state: 'needs_review' });
  });
});

describe('the outcome of an image call', () => {
  const base = { sendAttempt: 0, sent: true, account: 'a@00000000', estimate };

  it('[C2.5.1] keeps the time and the results in their order', () => {
    const images = [artifact, { ...artifact, sha256: '01' }];
    const answer: ImageCallAnswer = {
      ...base,
      outcome: 'completed',
      images,
      created: 1_700_000_000,
      warnings: ['fewer'],
      usage: { tokens: 3 },
    };
    expect(imageOutcome(answer, 'key')).toEqual({
      outcome: 'completed',
      images,
      created: 1_700_000_000,
      warnings: ['fewer'],
      billing: { estimate: 800_000, actual: null, currency: 'USD', usage: { tokens: 3 }, state: 'estimated' },
    });
  });

  it('[C1.9] of lost results, or without usage, needs a look', () => {
    const lost: ImageCallAnswer = {
      ...base,
      outcome: 'results_lost',
      images: [null],
      created: null,
      reason: 'storage',
      message: 'full',
    };
    expect(imageOutcome(lost, 'key')?.billing.state).toBe('needs_review');
    const done: ImageCallAnswer = { ...base, outcome: 'completed', images: [], created: null, warnings: [] };
    expect(imageOutcome(done, 'key')?.billing.state).toBe('needs_review');
  });

  it('is none while the call may go on', () => {
    expect(imageOutcome(answers.notSent(0), 'key')).toBeUndefined();
    expect(imageOutcome(answers.refused(0), 'key')).toBeUndefined();
    expect(imageOutcome(answers.pending(0), 'key')).toBeUndefined();
    expect(imageOutcome(answers.rejected(0), 'key')).toMatchObject({ outcome: 'rejected', sends: 1 });
    expect(imageOutcome(answers.unconfirmed(0), 'key')).toMatchObject({ outcome: 'unconfirmed' });
  });

  it('[C7.10] a refusal is billed as none only when nothing before it may be owed', () => {
    const call = answers.rejected(1);
    expect(outcomes.rejected(call, 'order-1', 1).billing.state).toBe('none');
    expect(outcomes.rejected({ ...call, mayBeOwed: true }, 'order-1', 1).billing.state).toBe('needs_review');
  });

  it.each(['moderation', 'invalid_request'] as const)(
    '[C7.10] a service that validated a request and refused it for %s may bill the validation',
    (reason) => {
      const validated = { ...answers.rejected(1, reason), httpStatus: 400 };
      expect(outcomes.rejected(validated, 'order-1', 1).billing.state).toBe('needs_review');
      expect(imageOutcome(validated, 'order-1')).toMatchObject({ billing: { state: 'needs_review' } });
      expect(outcomes.rejected(answers.rejected(1, reason), 'order-1', 0).billing.state).toBe('none');
      // What holds for every request of a model validates none of them.
      const standing = { ...validated, standing: 'model' } as const;
      expect(outcomes.rejected(standing, 'order-1', 1).billing.state).toBe('none');
    },
  );

  it.each(['credentials', 'quota'] as const)(
    '[C7.10] one that refused to look at it bills nothing: %s',
    (reason) => {
      const refused = { ...answers.rejected(1, reason), httpStatus: 401 };
      expect(outcomes.rejected(refused, 'order-1', 1).billing.state).toBe('none');
    },
  );
});
