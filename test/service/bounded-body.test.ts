import { Readable } from 'node:stream';
import fc from 'fast-check';
import { parseJsonBody, readBoundedBody } from '../../src/service/bounded-body';
import { decodedBody } from '../../src/service/decoded-body';
import { gzipSync } from 'node:zlib';

const within = { maxBytes: 10, withinMs: 10_000 };

describe('a bounded body', () => {
  it('is read whole up to the limit', async () => {
    const body = await readBoundedBody(Readable.from([Buffer.from('12345'), Buffer.from('67890')]), within);
    expect(body).toEqual({ bytes: Buffer.from('1234567890'), end: 'complete' });
  });

  it('is cut at the limit, and an endless one ends there', async () => {
    const endless = new Readable({
      read() {
        this.push(Buffer.alloc(7));
      },
    });
    const body = await readBoundedBody(endless, within);
    expect(body.bytes).toHaveLength(10);
    expect(body.end).toBe('too_large');
    expect(endless.destroyed).toBe(true);
  });

  it('ends at its moment, and a broken one says so', async () => {
    const silent = new Readable({ read: () => undefined });
    expect(await readBoundedBody(silent, { maxBytes: 10, withinMs: 20 })).toMatchObject({ end: 'too_late' });
    const broken = new Readable({
      read() {
        this.destroy(new Error('x'));
      },
    });
    expect(await readBoundedBody(broken, within)).toMatchObject({ end: 'broken' });
  });
});

describe('JSON of a body', () => {
  it('is the same as any JSON text, with or without a byte order mark', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 10 }), (value) => {
        const text = JSON.stringify(value);
        expect(parseJsonBody(Buffer.from(text))).toEqual(JSON.parse(text));
        expect(parseJsonBody(Buffer.from(`\ufeff${text}`))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('nests at most 64 levels; brackets inside texts do not count', () => {
    const nested = (levels: number): Buffer => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
    expect(parseJsonBody(nested(64))).toBeDefined();
    expect(parseJsonBody(nested(65))).toBeUndefined();
    expect(parseJsonBody(nested(1_000_000))).toBeUndefined();
    const text = JSON.stringify({ 'a"\\': '[{'.repeat(100), 'b\\\\': '"[' });
    expect(parseJsonBody(Buffer.from(text))).toEqual(JSON.parse(text));
  });

  it.each(['', '{', '"', '"\\"', 'undefined', '<html>', '{"a":1}}', '\ufeff'])('%j is none', (text) => {
    expect(parseJsonBody(Buffer.from(text))).toBeUndefined();
  });

  it('a compressed body is bounded too', () => {
    expect(decodedBody(gzipSync('abc'), ' GZIP', 100)?.toString()).toBe('abc');
    expect(decodedBody(gzipSync(Buffer.alloc(1_000_000)), 'gzip', 1000)).toBeUndefined();
    expect(decodedBody(Buffer.from('abc'), 'gzip', 100)).toBeUndefined();
    expect(decodedBody(Buffer.from('abc'), 'gzip, gzip', 100)).toBeUndefined();
    expect(decodedBody(Buffer.from('abc'), '', 100)?.toString()).toBe('abc');
  });
});
