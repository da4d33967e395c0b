/** Exit codes of every command, which scripts rely on. Codes from 64 up follow sysexits where it defines them. */
export const EXIT = {
  done: 0,
  unexpected: 1,
  usage: 2,
  moderation: 3,
  capacity: 4,
  failed: 5,
  spendNotConfirmed: 6,
  unconfirmedOpen: 7,
  invoiceDiffers: 8,
  badInput: 65,
  unreachable: 69,
  cannotWrite: 73,
  stillRunning: 75,
  noVideo: 76,
  credentials: 77,
  configuration: 78,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The meaning of each code, as shown in `--help` and docs/errors.md. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.done, 'done'],
  [EXIT.unexpected, 'unexpected error'],
  [EXIT.usage, 'invalid usage'],
  [EXIT.moderation, 'rejected by moderation'],
  [EXIT.capacity, 'no capacity, or rejected temporarily'],
  [EXIT.failed, 'finished with failures: failed, canceled, unconfirmed, lost or unknown'],
  [EXIT.spendNotConfirmed, 'spend not confirmed; nothing was sent'],
  [EXIT.unconfirmedOpen, 'the same request is unconfirmed under another id; nothing was sent'],
  [EXIT.invoiceDiffers, 'the invoice differs from the journal'],
  [EXIT.badInput, 'bad input; nothing was sent'],
  [EXIT.unreachable, 'Temporal server, worker or service unreachable'],
  [EXIT.cannotWrite, 'the result cannot be written'],
  [EXIT.stillRunning, 'still running; resume it'],
  [EXIT.noVideo, 'completed, but the file is not a video or is not available'],
  [EXIT.credentials, 'credentials rejected by the service or the Temporal server'],
  [EXIT.configuration, 'invalid configuration'],
  [EXIT.interrupted, 'interrupted; the work continues'],
];
