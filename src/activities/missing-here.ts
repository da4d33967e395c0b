import { setTimeout } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import { type NotSent } from '../domain/paid-call';
import { type MissingHere, type Prepared } from './paid-context';

export const NO_ACCOUNT: Extract<Prepared<never>, { kind: 'missing' }> = {
  kind: 'missing',
  missing: {
    cause: 'account_not_configured',
    reason: 'account_not_configured',
    message:
      'This worker has no such account, and nothing was sent. A worker that has it takes the call; name an account that the workers have, or start one with that credential and base address.',
    field: 'account',
  },
  fileHashes: new Map(),
};

export const NO_KEY: MissingHere = {
  cause: 'no_key',
  reason: 'credentials',
  message:
    'This worker has no key for the account (MEDIA_API_KEY or MEDIA_API_KEY_FILE), and nothing was sent. Give the worker a key: the call goes on by itself.',
};

/** Milliseconds that a worker holds a call that it cannot serve: if it refused at once, it would attract all calls. */
const UNSERVED_MS = 1_000;

export async function kept(answer: NotSent): Promise<NotSent> {
  await setTimeout(UNSERVED_MS, undefined, { signal: cancellationSignal() }).catch(() => undefined);
  return answer;
}
