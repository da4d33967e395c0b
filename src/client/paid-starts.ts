import { randomUUID } from 'node:crypto';
import { type Keys } from '../domain/known-keys';
import { WORKFLOW } from '../domain/names';
import { type PaidOperation } from '../domain/request';
import { GENERATE_VIDEO_KEYS, IMAGE_WORKFLOW_KEYS } from '../domain/workflow-inputs';
import { InvalidInputError, refuseUnknownKeys } from './errors';
import { START_KEYS, type StartOptions } from './started';

/** Workflow type, id prefix and input fields of each paid call. */
const STARTS: {
  readonly [operation in PaidOperation]: {
    readonly type: string;
    /** Prefix of a generated id. */
    readonly prefix: string;
    readonly keys: Keys;
  };
} = {
  create_video: { type: WORKFLOW.generateVideo, prefix: 'video', keys: GENERATE_VIDEO_KEYS },
  generate_image: { type: WORKFLOW.generateImage, prefix: 'image', keys: IMAGE_WORKFLOW_KEYS },
  edit_image: { type: WORKFLOW.editImage, prefix: 'edit', keys: IMAGE_WORKFLOW_KEYS },
};

/** Workflow type and id of a start; the id is also the creation key. @throws InvalidInputError */
export function paidStart(
  operation: PaidOperation,
  input: object,
  options: StartOptions,
): { readonly type: string; readonly id: string } {
  const { type, prefix, keys } = STARTS[operation];
  refuseUnknownKeys(options, START_KEYS);
  refuseUnknownKeys(input, keys);
  // The id would silently replace it, and each start with a generated id buys again.
  if ('creationKey' in input)
    throw new InvalidInputError('creationKey', 'The creation key is given as id, beside the input: {id}.');
  return { type, id: options.id ?? `${prefix}-${randomUUID()}` };
}
