import { type ImageOutcome } from '../domain/outcome';
import { type EditImageWorkflowInput, type GenerateImageWorkflowInput } from '../domain/workflow-inputs';
import { imageCall } from './image-call';

/** Generates images: one activity, for callers that have no workflow of their own (contract 2.3, design 4.8). */
export async function generateImage(input: GenerateImageWorkflowInput): Promise<ImageOutcome> {
  return imageCall('generate_image', input);
}

/** Edits images: one activity, for callers that have no workflow of their own (contract 2.4, design 4.8). */
export async function editImage(input: EditImageWorkflowInput): Promise<ImageOutcome> {
  return imageCall('edit_image', input);
}
