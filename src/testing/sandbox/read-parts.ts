import { createHash } from 'node:crypto';
import { type Exchange } from './exchange';
import { sha256 } from './hash';
import { errorReply } from './sandbox-reply';
import { type SandboxPart } from './sandbox-request';

/** Reads a multipart body part by part, in the order of the wire; undefined when the body is of another type. */
export async function readParts(exchange: Exchange): Promise<SandboxPart[] | undefined> {
  const { request, entry } = exchange;
  if (!request.isMultipart()) return undefined;
  const whole = createHash('sha256');
  request.raw.on('data', (chunk: Buffer) => {
    entry.bodyBytes += chunk.length;
    whole.update(chunk);
  });
  const parts: SandboxPart[] = [];
  entry.parts = parts;
  for await (const part of request.parts()) {
    if (part.type === 'file') {
      const bytes = await part.toBuffer();
      parts.push({
        name: part.fieldname,
        kind: 'file',
        filename: part.filename,
        contentType: part.mimetype,
        bytes: bytes.length,
        sha256: sha256(bytes),
      });
    } else {
      const value = String(part.value);
      parts.push({
        name: part.fieldname,
        kind: 'field',
        value,
        contentType: part.mimetype,
        bytes: Buffer.byteLength(value),
        sha256: sha256(value),
      });
    }
  }
  entry.bodySha256 = whole.digest('hex');
  return parts;
}

/** As `readParts`; a body that breaks off is answered with a 400 and makes 'unreadable'. */
export async function readPartsOrRefuse(
  exchange: Exchange,
): Promise<SandboxPart[] | undefined | 'unreadable'> {
  try {
    return await readParts(exchange);
  } catch {
    exchange.entry.violations.push('the multipart body could not be read');
    const refusal = errorReply(400, 'The multipart body could not be read.', { code: 'invalid_multipart' });
    await exchange.send(refusal);
    return 'unreadable';
  }
}
