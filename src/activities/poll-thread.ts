import { parentPort, workerData } from 'node:worker_threads';
import { createMediaClient } from '../service/create-media-client';
import { type AccountAccess } from '../settings/account-set';
import { type Account } from '../settings/accounts';
import { type PollJob, type PollThreadReply, type PollThreadData } from './poll-in-thread';
import { createPollVideos } from './poll-videos';

// Entry point of the thread that pollInThread starts. Receives ticks and posts answers.
const { connections } = workerData as PollThreadData;
const known = new Map<string, Account>();
/** The newest key per account name, so that a changed key takes effect. */
const keys = new Map<string, string>();
let secrets: readonly string[] = [];
/** Accounts by the name used in ticks. An account that the worker no longer has is removed. */
const named = new Map<string, Account>();
const pollVideos = createPollVideos({
  accounts: { find: (name) => named.get(name ?? ''), all: () => [...known.values()] },
  pollConcurrency: connections,
});

function accountOf({ name, baseUrl, key, secrets: all }: AccountAccess): Account {
  keys.set(name, key);
  // Every message contains a copy of the keys. Redactors are rebuilt only after a key has changed.
  if (all.length !== secrets.length || all.some((secret, place) => secret !== secrets[place])) secrets = all;
  let account = known.get(name);
  if (account === undefined) {
    const apiKey = () => keys.get(name) ?? '';
    const client = createMediaClient({
      baseUrl,
      apiKey,
      otherSecrets: () => secrets,
      connections: { poll: connections },
    });
    account = { name, client, hasKey: () => Promise.resolve(apiKey() !== '') };
    known.set(name, account);
  }
  return account;
}

function post(reply: PollThreadReply): void {
  parentPort?.postMessage(reply);
}

parentPort?.on('message', ({ id, access, input }: PollJob) => {
  if (access === undefined) named.delete(input.account);
  else named.set(input.account, accountOf(access));
  pollVideos(input).then(
    (result) => post({ id, result }),
    (error: unknown) => post({ id, error: String(error) }),
  );
});
