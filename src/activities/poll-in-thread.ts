import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type PollVideosInput, type PollVideosResult } from '../domain/poll-answers';
import { type AccountAccess, type AccountSet } from '../settings/account-set';

/** Start data of the thread. Accounts and keys come with each tick. */
export interface PollThreadData {
  /** Sockets of each account, and concurrent GETs of one tick. */
  readonly connections: number;
}

export interface PollJob {
  readonly id: number;
  /**
   * What the account of the tick needs; without its key nothing is requested. Undefined if the worker does not have the
   * account: the tick is answered with `account_not_configured`.
   */
  readonly access: AccountAccess | undefined;
  readonly input: PollVideosInput;
}

export type PollThreadReply =
  | { readonly id: number; readonly result: PollVideosResult }
  | { readonly id: number; readonly error: string };

/** `media.pollVideos` in another thread. */
export interface PollThread {
  readonly pollVideos: (input: PollVideosInput) => Promise<PollVideosResult>;
  /** Ends the thread; open and later ticks fail. */
  close(): Promise<void>;
}

const ENTRY = join(__dirname, 'poll-thread.js');

interface Waiting {
  readonly resolve: (result: PollVideosResult) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Polls in a separate thread: one event loop cannot do thousands of GETs a second beside creates, downloads and
 * workflow tasks, and a GET is cheaper without Temporal's activity context (ADR 12). The thread starts with the first
 * tick and does not keep the process alive. If it dies, its ticks fail, Temporal retries them, and the next tick starts
 * another.
 * @param access called before each tick with the account that it names
 * @returns undefined if the code of the thread is not a file beside this one: bundled, or not compiled
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
    started.on('error', (error) => ended(`The thread that polls failed: ${String(error)}`));
    started.on('exit', () => ended('The thread that polls ended.'));
    return started;
  }

  return {
    pollVideos: (input) =>
      new Promise((resolve, reject) => {
        if (closed) throw new Error('The worker has ended: nothing is polled any more.');
        thread ??= start();
        const id = (ids += 1);
        waiting.set(id, { resolve, reject });
        thread.postMessage({ id, access: access(input.account), input } satisfies PollJob);
      }),
    close: async () => {
      closed = true;
      const ending = thread;
      thread = undefined;
      failAll('The worker has ended.');
      await ending?.terminate();
    },
  };
}
