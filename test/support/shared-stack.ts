import { fetch } from 'undici';
import { startMediaStack, type MediaStack, type MediaStackOptions } from './media-stack';

/**
 * One stack for all tests of a file, started by the first that asks: concurrent tests begin before `beforeAll`.
 * @param prepare what every test needs besides, such as a worker
 */
export function sharedStack(
  options: MediaStackOptions | (() => Promise<MediaStackOptions>),
  prepare: (stack: MediaStack) => Promise<unknown> = (stack) => stack.startWorker(),
): () => Promise<MediaStack> {
  let starting: Promise<MediaStack> | undefined;
  const start = async (): Promise<MediaStack> => {
    const stack = await startMediaStack(typeof options === 'function' ? await options() : options);
    // The HTTP client loads its parser at its first request. jest refuses that from the moment in which the first of the
    // concurrent tests has ended, whoever else still runs.
    try {
      await (await fetch(stack.sandbox.modelsUrl)).text();
      await prepare(stack);
    } catch (error) {
      // Nobody else would stop it, and jest would wait for its processes.
      await stack.stop();
      throw error;
    }
    return stack;
  };
  afterAll(async () => (await starting)?.stop());
  return () => (starting ??= start());
}
