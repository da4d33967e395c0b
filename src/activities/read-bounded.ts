import { type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/** A whole body, or undefined when it is too large, breaks off, or is not there before the signal: an idle timer alone would let one byte a minute go on for ever. */
export async function readBounded(
  body: Readable,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const stop = () => void body.destroy(new Error('too late'));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let total = 0;
  body.on('data', (chunk: Buffer) => {
    total += chunk.length;
    if (total > maxBytes) body.destroy(new Error('too large'));
  });
  try {
    return await buffer(body);
  } catch {
    return undefined;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
