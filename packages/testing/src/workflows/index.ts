/**
 * Workflows for the bundle of a test, in the place of those of the same names in `temporal-media/workflows`. They buy and
 * wait for nothing: each returns, at once, the outcome that `mockMediaActivities` of `@temporal-media/testing` has for it.
 *
 * @module
 */
import { proxyActivities } from '@temporalio/workflow';
import {
  type ImageOutcome,
  type Rejected,
  type VideoOutcome,
  type AwaitVideoInput,
  type EditImageWorkflowInput,
  type GenerateImageWorkflowInput,
  type GenerateVideoInput,
} from 'temporal-media';
import { refusedBeforeSend } from 'temporal-media/internal/domain/outcome';
import { type Shape } from 'temporal-media/internal/domain/shape';
import {
  AWAIT_VIDEO_SHAPE,
  GENERATE_VIDEO_SHAPE,
  IMAGE_WORKFLOW_SHAPE,
} from 'temporal-media/internal/domain/workflow-inputs';
import { creationKey } from 'temporal-media/internal/workflows/creation-key';
import { inputIssue, requireInput } from 'temporal-media/internal/workflows/handlers';
import { type FakeWorkflowActivities } from '../mock-media/mock-names';

const ask = proxyActivities<FakeWorkflowActivities>({
  startToCloseTimeout: '1 minute',
  // A function of the test that throws fails the test at once.
  retry: { maximumAttempts: 1 },
});

/** In the place of `generateVideo`: refuses what that refuses before it sends, else returns the outcome of the test. */
export async function generateVideo(input: GenerateVideoInput): Promise<VideoOutcome> {
  const own = keyOf(input, GENERATE_VIDEO_SHAPE);
  return 'outcome' in own
    ? own
    : ask['mockMedia.video']({ creationKey: own.key, taskId: null, request: input.request });
}

/** In the place of `awaitVideo`: returns the outcome of the test for this task. */
export async function awaitVideo(input: AwaitVideoInput): Promise<VideoOutcome> {
  requireInput(input, AWAIT_VIDEO_SHAPE);
  return ask['mockMedia.video']({ creationKey: null, taskId: input.video.taskId, request: null });
}

/** In the place of `generateImage`, as {@link generateVideo}. */
export async function generateImage(input: GenerateImageWorkflowInput): Promise<ImageOutcome> {
  return fakeImage(input);
}

/** In the place of `editImage`, as {@link generateVideo}. */
export async function editImage(input: EditImageWorkflowInput): Promise<ImageOutcome> {
  return fakeImage(input);
}

async function fakeImage(input: GenerateImageWorkflowInput | EditImageWorkflowInput): Promise<ImageOutcome> {
  const own = keyOf(input, IMAGE_WORKFLOW_SHAPE);
  return 'outcome' in own ? own : ask['mockMedia.image']({ creationKey: own.key, request: input.request });
}

/** The creation key of a call; or the refusal of an input that is none. */
function keyOf(
  input: { readonly request: unknown; readonly creationKey?: string },
  shape: Shape,
): { readonly key: string } | Rejected {
  const issue = inputIssue(input, shape);
  if (issue !== undefined)
    return refusedBeforeSend('invalid_request', issue.message, issue.field, issue.allowed);
  const own = creationKey(input.creationKey);
  return 'key' in own ? own : refusedBeforeSend('creation_key_required', own.refused, 'creationKey');
}
