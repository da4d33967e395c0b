import { type FailureReply } from './cli-error';

/** Set by a `temporal-media` that starts another one as its child and stays connected to it. */
export const ATTACHED_VARIABLE = 'TEMPORAL_MEDIA_ATTACHED';

/** What such a child tells its parent. */
export type ChildMessage =
  | { readonly type: 'ready'; readonly data: object }
  | { readonly type: 'failed'; readonly error: FailureReply };

/** Whether this process was started as such a child: it then ends when its parent is gone. */
export function isAttached(): boolean {
  return process.env[ATTACHED_VARIABLE] === '1' && process.send !== undefined;
}

export function tellParent(message: ChildMessage): void {
  if (isAttached() && process.connected) process.send?.(message);
}
