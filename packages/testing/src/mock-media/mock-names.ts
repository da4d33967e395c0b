import {
  type ImageOutcome,
  type VideoOutcome,
  type ImageEditRequest,
  type ImageGenerationRequest,
  type VideoRequest,
} from 'temporal-media';

/** The argument that a test's function receives when a video is bought or awaited. */
export interface AskedVideo {
  /** Null for a video that is only awaited. */
  readonly creationKey: string | null;
  /** Null for a video that is bought. */
  readonly taskId: string | null;
  /** Null for a video that is only awaited. */
  readonly request: VideoRequest | null;
}

/** The argument that a test's function receives when images are generated or edited. */
export interface AskedImage {
  /** Null for an activity that was called without a key. */
  readonly creationKey: string | null;
  /** The request for the images. */
  readonly request: ImageGenerationRequest | ImageEditRequest;
}

/** Activities that only the workflows of `@temporal-media/testing/workflows` call. They run on their own task queue. */
export interface FakeWorkflowActivities {
  'mockMedia.video'(asked: AskedVideo): Promise<VideoOutcome>;
  'mockMedia.image'(asked: AskedImage): Promise<ImageOutcome>;
}
