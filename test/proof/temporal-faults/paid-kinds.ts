import { type ArtifactRef, type ImageOutcome, type VideoOutcome } from '../../../src/domain';
import { ACTIVITY, WORKFLOW } from '../../../src/domain/names';
import { type PaidOperation } from '../../../src/domain/request';

export type Outcome = VideoOutcome | ImageOutcome;

/** Where one paid operation is met: in a history, on a queue, on the wire. */
export interface PaidKind {
  readonly workflow: string;
  readonly activity: string;
  /** Field of `queues` that moves its activity. */
  readonly queue: 'create' | 'image';
  readonly wire: 'create' | 'generate' | 'edit';
  /** The golden history whose commands it takes when nothing is wrong. */
  readonly golden: string;
}

export const PAID: Readonly<Record<PaidOperation, PaidKind>> = {
  create_video: {
    workflow: WORKFLOW.generateVideo,
    activity: ACTIVITY.createVideo,
    queue: 'create',
    wire: 'create',
    golden: 'generateVideo.completed.v1.json',
  },
  generate_image: {
    workflow: WORKFLOW.generateImage,
    activity: ACTIVITY.generateImage,
    queue: 'image',
    wire: 'generate',
    golden: 'generateImage.completed.v1.json',
  },
  edit_image: {
    workflow: WORKFLOW.editImage,
    activity: ACTIVITY.editImage,
    queue: 'image',
    wire: 'edit',
    golden: 'editImage.completed.v1.json',
  },
};

/** A valid request; `reference` is what an edit changes. */
export function requestOf(operation: PaidOperation, prompt: string, reference: ArtifactRef): object {
  switch (operation) {
    case 'create_video':
      // A model whose content endpoint answers itself: a slow body is then that of the download.
      return { model: 'motion-omni', prompt, durationSeconds: 3 };
    case 'generate_image':
      return { model: 'image-2', prompt, size: '512x512' };
    case 'edit_image':
      return { model: 'image-2', prompt, size: '512x512', images: [{ artifact: reference }] };
  }
}
