import { type ContentUnavailableReason } from '../../src/domain/download';
import { FAILURE_TABLE } from '../../src/domain/failure-table';
import { type RejectReason } from '../../src/domain/failure-table';
import { type ImageOutcome, type VideoOutcome } from '../../src/domain/outcome';
import { type ErrorKind } from '../../src/domain/video-task';

/** Every word of a union, checked by the compiler in both directions. */
const REASONS: Record<RejectReason, true> = {
  invalid_request: true,
  moderation: true,
  quota: true,
  capacity: true,
  service_error: true,
  credentials: true,
  account_not_configured: true,
  creation_key_conflict: true,
  creation_key_required: true,
  internal_error: true,
  not_sent: true,
  retry_later: true,
  unsafe_retry_policy: true,
  unconfirmed_open: true,
  declared_lost: true,
  spend_limit: true,
  price_changed: true,
};
const KINDS: Record<ErrorKind, true> = {
  moderation: true,
  capacity: true,
  invalid: true,
  quota: true,
  unknown: true,
};
const CONTENT: Record<ContentUnavailableReason, true> = {
  not_ready: true,
  expired: true,
  not_video: true,
  incomplete_file: true,
  auth: true,
  blocked: true,
  storage: true,
};
const PLAIN: Record<
  Exclude<
    (VideoOutcome | ImageOutcome)['outcome'],
    'completed' | 'failed' | 'rejected' | 'content_unavailable'
  >,
  true
> = { still_running: true, task_unknown: true, unconfirmed: true, results_lost: true, cancelled: true };

it('has a row for every way to end without a result, and no other row', () => {
  const expected = [
    ...Object.keys(PLAIN),
    ...Object.keys(KINDS).map((kind) => `failed/${kind}`),
    ...Object.keys(REASONS).map((reason) => `rejected/${reason}`),
    ...Object.keys(CONTENT).map((reason) => `content_unavailable/${reason}`),
  ];
  expect(FAILURE_TABLE.map(({ type }) => type).sort()).toEqual(expected.sort());
});

it('[C3.7] never tells to repeat a failed task by itself: the error is read first', () => {
  const failed = FAILURE_TABLE.filter(({ type }) => type.startsWith('failed/'));
  expect(failed.map(({ retryable }) => retryable)).not.toContain('yes');
});
