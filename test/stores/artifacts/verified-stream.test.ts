import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ArtifactError, verifiedStream } from '../../../src/stores/artifacts/artifact-store';

const WHOLE = Buffer.from('a whole artifact');
const HASH = createHash('sha256').update(WHOLE).digest('hex');
const inParts = () => Readable.from([WHOLE.subarray(0, 5), WHOLE.subarray(5)]);

describe('a stream that is verified', () => {
  it('passes on what has its hash, byte for byte', async () => {
    expect(await buffer(verifiedStream(inParts(), HASH))).toEqual(WHOLE);
  });

  it('fails at its end when one byte is another', async () => {
    const other = 'f'.repeat(64);
    await expect(buffer(verifiedStream(inParts(), other))).rejects.toThrow(
      new ArtifactError('hash_mismatch', `Artifact ${other} is corrupted in the store.`),
    );
    await expect(buffer(verifiedStream(Readable.from([WHOLE.subarray(1)]), HASH))).rejects.toMatchObject({
      code: 'hash_mismatch',
    });
  });

  it('[C5.4c] fails as the store does, without the path in the message of the system', async () => {
    const source = new Readable({ read: () => undefined });
    const reading = buffer(verifiedStream(source, HASH));
    source.destroy(Object.assign(new Error('EIO: /home/ann/secret'), { code: 'EIO' }));
    await expect(reading).rejects.toThrow(new ArtifactError('storage', 'The artifact store failed (EIO).'));
  });

  it('lets go of its source when the reader lets go of it', async () => {
    const source = new Readable({ read: () => undefined });
    const closed = new Promise((resolve) => source.once('close', resolve));
    verifiedStream(source, HASH).destroy();
    await closed;
    expect(source.destroyed).toBe(true);
  });
});
