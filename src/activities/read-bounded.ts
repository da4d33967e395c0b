import { type Readable } from 'node:stream';
import { ReplyBytes } from '../service/reply-bytes';

/** A whole body, or undefined when it is too large, breaks off, or is not there before the signal: an idle timer alone would let one byte a minute go on for ever. */
export async function readBounded(
  body: Readable,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const stop = () => void body.destroy(new Error('too late'));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const kept = new ReplyBytes();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (kept.size + chunk.length > maxBytes) return undefined;
      await kept.add(chunk);
    }
    return await kept.whole();
  } catch {
    return undefined;
  } finally {
    signal.removeEventListener('abort', stop);
    body.destroy();
    await kept.close();
  }
}
