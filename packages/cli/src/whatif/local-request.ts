import { type Facts, type Timeline } from '@temporal-media/replay';
import { numberOf, textOf } from '@temporal-media/replay/internal/timeline/values';
import { type SandboxModel } from '@temporal-media/sandbox';
import { sandboxModels } from '@temporal-media/sandbox/internal/models';
import { type ImageGenerationRequest, type VideoRequest } from 'temporal-media';
import { WORKFLOW } from 'temporal-media/internal/domain/names';

/** The prompt of every local run. A history's own prompt may be secret, or contain sandbox directives. */
export const LOCAL_PROMPT = 'what if';

/** A model that accepts every duration and resolution. */
const ANY_VIDEO = 'open-canvas';
const ANY_IMAGE = 'image-2';

/** A sandbox request that is similar to the one in the history. */
export interface LocalRequest {
  readonly workflow: LocalWorkflow;
  readonly request: VideoRequest | ImageGenerationRequest;
  /** Descriptions of omitted parts of the history's request. */
  readonly notPlayed: readonly string[];
}

/** Workflows that begin with one paid request. */
export type LocalWorkflow = 'generateVideo' | 'generateImage' | 'editImage';

const WORKFLOWS: readonly string[] = [
  WORKFLOW.generateVideo,
  WORKFLOW.generateImage,
  WORKFLOW.editImage,
] satisfies LocalWorkflow[];

/** Whether a workflow begins with a single paid request. */
export const isLocalWorkflow = (type: string): type is LocalWorkflow => WORKFLOWS.includes(type);

/** Returns the sandbox model for a history: the same model, or one that accepts any request. */
export function standIn(timeline: Timeline): string {
  const isVideo = timeline.workflowType === WORKFLOW.generateVideo;
  const model = modelOf(timeline.model);
  return model?.kind === (isVideo ? 'video' : 'image') ? model.id : isVideo ? ANY_VIDEO : ANY_IMAGE;
}

const modelOf = (id: string | null): SandboxModel | undefined =>
  sandboxModels.models.find((one) => one.id === id);

/** Builds the sandbox request from the timeline, without any prompt, file, URL or field from the history. */
export function localRequest(timeline: Timeline, workflow: LocalWorkflow): LocalRequest {
  const facts = timeline.entries.find(({ kind }) => kind === 'started')?.facts ?? {};
  const id = standIn(timeline);
  const model = modelOf(id);
  const other =
    timeline.model === null || timeline.model === id
      ? []
      : [`the model ${timeline.model}: ${id} is used instead`];
  if (model?.kind !== 'video')
    return { workflow, request: { model: id, prompt: LOCAL_PROMPT }, notPlayed: other };
  const references = numberOf(facts['references']) ?? 0;
  const { kept, left } = fieldsFor(model, facts);
  return {
    workflow,
    request: { model: id, prompt: LOCAL_PROMPT, ...kept },
    notPlayed: [...other, ...left, ...(references > 0 ? ["the request's references"] : [])],
  };
}

function fieldsFor(
  { durations, resolutions }: Extract<SandboxModel, { kind: 'video' }>,
  facts: Facts,
): { readonly kept: Pick<VideoRequest, 'durationSeconds' | 'resolution'>; readonly left: readonly string[] } {
  const duration = numberOf(facts['durationSeconds']);
  const resolution = textOf(facts['resolution']);
  const hasDuration = duration !== null && (durations?.includes(duration) ?? true);
  const hasResolution = resolution !== null && (resolutions?.includes(resolution) ?? true);
  return {
    kept: {
      ...(hasDuration && { durationSeconds: duration }),
      ...(hasResolution && { resolution }),
    },
    left: [
      ...(duration !== null && !hasDuration ? [`a duration of ${duration} s`] : []),
      ...(resolution !== null && !hasResolution ? [`the resolution ${resolution}`] : []),
    ],
  };
}
