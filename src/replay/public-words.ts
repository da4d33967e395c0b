import { FAILURE_TABLE } from '../domain/failure-table';
import { POLL_ERROR_CLASSES } from '../domain/poll-answers';

/** Causes of creates of unknown fate that the service client names. */
const CAUSES = [
  'connection_lost_after_send',
  'timeout_after_send',
  'reply_not_http',
  'reply_too_large',
  'reply_truncated',
  'reply_unreadable',
  'reply_without_id',
  'http_500',
  'http_502',
  'http_503',
  'http_504',
];

/**
 * Values of this package that say why something ended, failed or is unknown. They name no content, and without them a redacted
 * history tells nothing: they stay in it.
 */
export const PUBLIC_WORDS: readonly string[] = [
  ...FAILURE_TABLE.flatMap(({ type }) => type.split('/')),
  ...POLL_ERROR_CLASSES,
  ...CAUSES,
];
