import { continueAsNew, setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { beginCreate, DEFAULT_START_LIMIT_MS, type CreateOnceState } from '../domain/create-once';
import { billing } from '../domain/money';
import { outcomes, type VideoOutcome } from '../domain/outcome';
import { type CreatedVideo } from '../domain/paid-call';
import { milliseconds } from '../domain/shape';
import { type VideoState } from '../domain/video-state';
import { type CarriedWait, GENERATE_VIDEO_SHAPE, type GenerateVideoInput } from '../domain/workflow-inputs';
import { awaitDecision, Decisions } from './await-decision';
import { beginWait, waitForVideo } from './await-video';
import { createOnce, type CreateOnceOptions } from './create-once';
import { creationKey } from './creation-key';
import { inputIssue, type OnProgress, queuesOf } from './handlers';
import { trackVideo, type VideoProgress } from './video-progress';
import { PINNED } from './workflow-metadata';

/**
 * Creates one video at most once, waits for it, then downloads and verifies it (contract 2 to 4). Returns an outcome
 * unless it is terminated or times out. Once the task was created, every outcome contains its ID.
 * @param onProgress set by `withProgress`; never part of a start
 */
export async function generateVideo(
  input: GenerateVideoInput,
  onProgress?: OnProgress<VideoState>,
): Promise<VideoOutcome> {
  return trackVideo(async (progress) => {
    const created = await create(input, progress);
    if ('outcome' in created) return created;
    return waitForVideo(input, created, progress);
  }, onProgress);
}

/**
 * Returns the wait for the created video, or the outcome if there is nothing to wait for. After a continue-as-new,
 * returns the wait that was carried over.
 */
async function create(
  input: GenerateVideoInput,
  progress: VideoProgress,
): Promise<CarriedWait | VideoOutcome> {
  // The request's contents are validated in the activity, because a change to the validation rules must not change how
  // old histories replay.
  const issue = inputIssue(input, GENERATE_VIDEO_SHAPE);
  if (issue !== undefined)
    return outcomes.refusedBeforeSend('invalid_request', issue.message, issue.field, issue.allowed);
  if (input.carried?.phase === 'watching') return input.carried;
  const started = input.carried?.create ?? begin(input);
  if ('outcome' in started) return started;
  const decisions = new Decisions();
  decisions.accept();
  const key = started.creationKey;
  progress.update({ creationKey: key });
  for (let state = started; ;) {
    const result = await createOnce(state, createOptions(input, progress));
    if (result.kind === 'handover')
      return continueAsNew<typeof generateVideo>({
        ...input,
        carried: { v: 1, phase: 'creating', create: result.state },
      });
    if (result.kind === 'cancelled')
      return outcomes.cancelled(null, key, billing(null, result.mayBeOwed ? 'needs_review' : 'none'));
    let { answer } = result;
    if (answer.outcome === 'unconfirmed' && input.onUnconfirmed === 'wait') {
      progress.update({ phase: 'unconfirmed', evidence: answer.evidence, wait: null });
      const options = { creationKey: key, taskQueue: queuesOf(input.queues).create };
      const decided = await awaitDecision(answer, decisions, options);
      if (decided.kind === 'resubmit') {
        // An authorized send is a new create, so attempts and times are counted from zero again. The earlier send may
        // have cost money.
        state = { ...beginCreate(key, Date.now()), mayBeOwed: true };
        continue;
      }
      ({ answer } = decided);
    }
    if (answer.outcome === 'rejected') return outcomes.rejected(answer, key, result.sends);
    if (answer.outcome === 'unconfirmed') return outcomes.unconfirmed(answer, key);
    return watching(input, answer, key);
  }
}

function createOptions(input: GenerateVideoInput, progress: VideoProgress): CreateOnceOptions {
  return {
    request: input.request,
    account: input.account,
    policy: input.policy,
    refuseWhileUnconfirmed: input.refuseWhileUnconfirmed,
    again: input.again,
    labels: input.labels,
    startLimitMs: milliseconds(input.startLimit ?? DEFAULT_START_LIMIT_MS) ?? DEFAULT_START_LIMIT_MS,
    taskQueue: queuesOf(input.queues).create,
    onState: (state, wait) =>
      progress.update({ phase: wait === null ? 'creating' : 'waiting_to_create', wait, sends: state.sends }),
    shouldHandOver: () => workflowInfo().continueAsNewSuggested,
  };
}

function watching(input: GenerateVideoInput, created: CreatedVideo, creationKey: string): CarriedWait {
  const now = Date.now();
  return beginWait(input, {
    video: created.video,
    now,
    firstPollAt: now + created.video.polling.firstPollSeconds * 1000,
    lastStatus: created.status,
    creationKey,
    polling: created.polling,
    created: {
      estimate: created.estimate,
      warnings: created.warnings,
      ...(created.mayBeOwed === true && { mayBeOwed: true }),
    },
  });
}

function begin(input: GenerateVideoInput): CreateOnceState | VideoOutcome {
  const own = creationKey(input.creationKey);
  return 'key' in own
    ? beginCreate(own.key, Date.now())
    : outcomes.refusedBeforeSend('creation_key_required', own.refused, 'creationKey');
}

setWorkflowOptions(PINNED, generateVideo);
