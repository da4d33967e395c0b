import { type FailureRow } from '../domain/failure-table';

/** Exit codes of every command: scripts rely on them. 64 and above follow sysexits where it has a word for it. */
export const EXIT = {
  done: 0,
  unexpected: 1,
  usage: 2,
  moderation: 3,
  capacity: 4,
  failed: 5,
  badInput: 65,
  unreachable: 69,
  cannotWrite: 73,
  unclear: 74,
  stillRunning: 75,
  noVideo: 76,
  credentials: 77,
  configuration: 78,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The registry as people read it, in `--help`; 6 is reserved. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.done, 'done'],
  [EXIT.unexpected, 'unexpected error'],
  [EXIT.usage, 'wrong usage'],
  [EXIT.moderation, 'refused by moderation'],
  [EXIT.capacity, 'no capacity, or refused for now'],
  [EXIT.failed, 'the task failed, or was cancelled'],
  [EXIT.badInput, 'bad input; nothing was sent'],
  [EXIT.unreachable, 'Temporal server, worker or service unreachable'],
  [EXIT.cannotWrite, 'the result cannot be written'],
  [EXIT.unclear, 'unconfirmed, results lost or task unknown: a person must look'],
  [EXIT.stillRunning, 'still running; resume it'],
  [EXIT.noVideo, 'completed, but its content is not available'],
  [EXIT.credentials, 'credentials of the worker'],
  [EXIT.configuration, 'configuration'],
  [EXIT.interrupted, 'interrupted; the work goes on'],
];

/** By type of the failure table; a type that is not here has the code of its outcome word. */
const BY_TYPE: { readonly [type: string]: ExitCode } = {
  still_running: EXIT.stillRunning,
  'failed/moderation': EXIT.moderation,
  'failed/capacity': EXIT.capacity,
  failed: EXIT.failed,
  content_unavailable: EXIT.noVideo,
  task_unknown: EXIT.unclear,
  unconfirmed: EXIT.unclear,
  results_lost: EXIT.unclear,
  cancelled: EXIT.failed,
  'rejected/invalid_request': EXIT.badInput,
  'rejected/moderation': EXIT.moderation,
  'rejected/capacity': EXIT.capacity,
  'rejected/retry_later': EXIT.capacity,
  'rejected/credentials': EXIT.credentials,
  'rejected/account_not_configured': EXIT.configuration,
  'rejected/creation_key_conflict': EXIT.badInput,
  'rejected/creation_key_required': EXIT.badInput,
  'rejected/not_sent': EXIT.unreachable,
  'rejected/unsafe_retry_policy': EXIT.configuration,
  rejected: EXIT.failed,
};

/** The exit code of a row of the failure table. */
export function exitCodeOfType(type: FailureRow['type']): ExitCode {
  return BY_TYPE[type] ?? BY_TYPE[type.split('/')[0] ?? ''] ?? EXIT.unexpected;
}
