/** Exit codes of every command; scripts rely on them. Codes from 64 on follow sysexits where it defines one. */
export const EXIT = {
  done: 0,
  unexpected: 1,
  usage: 2,
  moderation: 3,
  capacity: 4,
  failed: 5,
  spendNotConfirmed: 6,
  unconfirmedOpen: 7,
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

/** What each code means, as `--help` and docs/errors.md show it. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.done, 'done'],
  [EXIT.unexpected, 'unexpected error'],
  [EXIT.usage, 'wrong usage'],
  [EXIT.moderation, 'refused by moderation'],
  [EXIT.capacity, 'no capacity, or refused for now'],
  [EXIT.failed, 'finished with failures: failed, cancelled, unconfirmed, lost or unknown'],
  [EXIT.spendNotConfirmed, 'spend not confirmed; nothing was sent'],
  [EXIT.unconfirmedOpen, 'the same request is unconfirmed under another id; nothing was sent'],
  [EXIT.badInput, 'bad input; nothing was sent'],
  [EXIT.unreachable, 'Temporal server, worker or service unreachable'],
  [EXIT.cannotWrite, 'the result cannot be written'],
  [EXIT.stillRunning, 'still running; resume it'],
  [EXIT.noVideo, 'completed, but what came is not a video, or its content is not available'],
  [EXIT.credentials, 'credentials refused: those of the worker, or for the Temporal server'],
  [EXIT.configuration, 'wrong configuration'],
  [EXIT.interrupted, 'interrupted; the work goes on'],
];
