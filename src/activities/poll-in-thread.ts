import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type PollVideosInput, type PollVideosResult } from '../domain/poll-answers';
import { type AccountAccess, type AccountSet } from '../settings/account-set';

/** Data that the thread starts with. Accounts and keys arrive with each tick. */
export interface PollThreadData {
  /** Number of sockets per account, and of concurrent GETs per tick. */
  readonly connections: number;
}

export interface PollJob {
  readonly id: number;
  /**
   * The credentials of the tick's account, without which nothing can be requested. Undefined if the worker does not
   * have the account: the tick then returns `account_not_configured`.
   */
  readonly access: AccountAccess | undefined;
  readonly input: PollVideosInput;
}

export type PollThreadReply =
  | { readonly id: number; readonly result: PollVideosResult }
  | { readonly id: number; readonly error: string };

/** Runs `media.pollVideos` in another thread. */
export interface PollThread {
  readonly pollVideos: (input: PollVideosInput) => Promise<PollVideosResult>;
  /** Ends the thread. Open and later ticks fail. */
  close(): Promise<void>;
}

const ENTRY = join(__dirname, 'poll-thread.js');

interface Waiting {
  readonly resolve: (result: PollVideosResult) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Polls in a separate thread. One event loop cannot handle thousands of GETs per second alongside creates, downloads
 * and workflow tasks, and a GET is cheaper without Temporal's activity context (ADR 12). The thread starts with the
 * first tick and does not keep the process alive. If it dies, its ticks fail, Temporal retries them, and the next tick
 * starts a new thread.
 * @param access called before each tick with the account that the tick names
 * @returns undefined if the thread's code is not in a file beside this one, because it was bundled or not compiled
 */
export function pollInThread(
  data: PollThreadData,
  access: AccountSet['access'],
  entry = ENTRY,
): PollThread | undefined {
  if (!existsSync(entry)) return undefined;
  const waiting = new Map<number, Waiting>();
  let thread: Worker | undefined;
  let ids = 0;
  let closed = false;

  function failAll(why: string): void {
    const all = [...waiting.values()];
    waiting.clear();
    for (const { reject } of all) reject(new Error(why));
  }

  function start(): Worker {
    const started = new Worker(entry, { workerData: data });
    started.unref();
    const ended = (why: string): void => {
      if (thread !== started) return;
      thread = undefined;
      failAll(why);
    };
    started.on('message', (reply: PollThreadReply) => {
      const tick = waiting.get(reply.id);
      waiting.delete(reply.id);
      if ('result' in reply) tick?.resolve(reply.result);
      else tick?.reject(new Error(reply.error));
    });
    started.on('error', (error) => ended(`The polling thread failed: ${String(error)}`));
    started.on('exit', () => ended('The polling thread exited.'));
    return started;
  }

  return {
    pollVideos: (input) =>
      new Promise((resolve, reject) => {
        if (closed) throw new Error('The worker has stopped and no longer polls.');
        thread ??= start();
        const id = (ids += 1);
        waiting.set(id, { resolve, reject });
        thread.postMessage({ id, access: access(input.account), input } satisfies PollJob);
      }),
    close: async () => {
      closed = true;
      const ending = thread;
      thread = undefined;
      failAll('The worker has stopped.');
      await ending?.terminate();
    },
  };
}
