import { randomUUID } from 'node:crypto';
import { type Keys } from '../domain/known-keys';
import { WORKFLOW } from '../domain/names';
import { type PaidOperation } from '../domain/request';
import { GENERATE_VIDEO_KEYS, IMAGE_WORKFLOW_KEYS } from '../domain/workflow-inputs';
import { InvalidInputError, refuseUnknownKeys } from './errors';
import { START_KEYS, type StartOptions } from './started';

/** How each paid call is started. */
const STARTS: {
  readonly [operation in PaidOperation]: {
    readonly type: string;
    /** What a generated id begins with. */
    readonly prefix: string;
    readonly keys: Keys;
  };
} = {
  create_video: { type: WORKFLOW.generateVideo, prefix: 'video', keys: GENERATE_VIDEO_KEYS },
  generate_image: { type: WORKFLOW.generateImage, prefix: 'image', keys: IMAGE_WORKFLOW_KEYS },
  edit_image: { type: WORKFLOW.editImage, prefix: 'edit', keys: IMAGE_WORKFLOW_KEYS },
};

/** The workflow of a start and its id, which is also the creation key. @throws InvalidInputError */
export function paidStart(
  operation: PaidOperation,
  input: object,
  options: StartOptions,
): { readonly type: string; readonly id: string } {
  const { type, prefix, keys } = STARTS[operation];
  refuseUnknownKeys(options, START_KEYS);
  refuseUnknownKeys(input, keys);
  // They would be overwritten in silence, and a start without an id of its own buys once more each time.
  if ('creationKey' in input)
    throw new InvalidInputError('creationKey', 'The creation key is given as id, beside the input: {id}.');
  return { type, id: options.id ?? `${prefix}-${randomUUID()}` };
}
