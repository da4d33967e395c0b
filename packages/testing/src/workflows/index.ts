/**
 * Workflows for a test bundle that replace the workflows with the same names in `temporal-media/workflows`. They buy
 * nothing and never wait: each immediately returns the outcome that `mockMediaActivities` from
 * `@temporal-media/testing` provides.
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
  // If the test's function throws, the test fails immediately.
  retry: { maximumAttempts: 1 },
});

/** Replaces `generateVideo`: refuses the same requests before sending, and otherwise returns the test's outcome. */
export async function generateVideo(input: GenerateVideoInput): Promise<VideoOutcome> {
  const own = keyOf(input, GENERATE_VIDEO_SHAPE);
  return 'outcome' in own
    ? own
    : ask['mockMedia.video']({ creationKey: own.key, taskId: null, request: input.request });
}

/** Replaces `awaitVideo`: returns the test's outcome for this task. */
export async function awaitVideo(input: AwaitVideoInput): Promise<VideoOutcome> {
  requireInput(input, AWAIT_VIDEO_SHAPE);
  return ask['mockMedia.video']({ creationKey: null, taskId: input.video.taskId, request: null });
}

/** Replaces `generateImage`, like {@link generateVideo}. */
export async function generateImage(input: GenerateImageWorkflowInput): Promise<ImageOutcome> {
  return fakeImage(input);
}

/** Replaces `editImage`, like {@link generateVideo}. */
export async function editImage(input: EditImageWorkflowInput): Promise<ImageOutcome> {
  return fakeImage(input);
}

async function fakeImage(input: GenerateImageWorkflowInput | EditImageWorkflowInput): Promise<ImageOutcome> {
  const own = keyOf(input, IMAGE_WORKFLOW_SHAPE);
  return 'outcome' in own ? own : ask['mockMedia.image']({ creationKey: own.key, request: input.request });
}

/** Returns a call's creation key, or the rejection if its input or its key is invalid. */
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
