import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { decodedBody, parseJsonBody, readBoundedBody } from '../../src/service/reply-body';

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

describe('a long body', () => {
  const MIB = 1024 * 1024;
  const long = { maxBytes: 64 * MIB, withinMs: 60_000 };
  const namesInTemp = async () =>
    (await readdir(tmpdir())).filter((name) => name.startsWith('.temporal-media-'));

  it('comes back byte by byte, in chunks of any size, and leaves no file', async () => {
    const whole = randomBytes(20 * MIB + 7);
    const cuts = [1, 65_535, 65_536, 65_537, 3 * MIB, 8 * MIB, 8 * MIB + 1, 17 * MIB];
    const chunks = [0, ...cuts].map((from, index) => whole.subarray(from, cuts[index]));
    const body = await readBoundedBody(Readable.from(chunks), long);
    expect(body.end).toBe('complete');
    expect(body.bytes.equals(whole)).toBe(true);
    expect(await namesInTemp()).toEqual([]);
  });

  it('that is cut or breaks off shows its beginning', async () => {
    const chunk = randomBytes(MIB);
    const endless = new Readable({
      read() {
        this.push(chunk);
      },
    });
    const cut = await readBoundedBody(endless, { ...long, maxBytes: 20 * MIB });
    expect(cut.end).toBe('too_large');
    expect(cut.bytes.subarray(0, MIB).equals(chunk)).toBe(true);
    const breaking = Readable.from(
      (async function* () {
        for (let sent = 0; sent < 12; sent += 1) yield chunk;
        throw new Error('x');
      })(),
    );
    const broken = await readBoundedBody(breaking, long);
    expect(broken.end).toBe('broken');
    expect(broken.bytes.subarray(0, MIB).equals(chunk)).toBe(true);
  });

  it('stays in memory when there is no disk to write to', async () => {
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = '/nowhere/at/all';
    try {
      const whole = randomBytes(20 * MIB);
      const body = await readBoundedBody(
        Readable.from([whole.subarray(0, 9 * MIB), whole.subarray(9 * MIB)]),
        long,
      );
      expect(body.bytes.equals(whole)).toBe(true);
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
  });
});

describe('JSON of a body', () => {
  it('is the same as any JSON text, with or without a byte order mark, but for fields called __proto__', () => {
    const own = (name: string, value: unknown): unknown => (name === '__proto__' ? undefined : value);
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 10 }), (value) => {
        const text = JSON.stringify(value);
        expect(parseJsonBody(Buffer.from(text))).toEqual(JSON.parse(text, own));
        expect(parseJsonBody(Buffer.from(`\ufeff${text}`))).toEqual(JSON.parse(text, own));
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

  it('holds at most 100,000 values; commas inside texts do not count', () => {
    const many = (count: number): Buffer => Buffer.from(JSON.stringify(new Array(count).fill(0)));
    expect(parseJsonBody(many(100_000))).toHaveLength(100_000);
    expect(parseJsonBody(many(100_001))).toBeUndefined();
    expect(parseJsonBody(Buffer.from(`{${'"a":{},'.repeat(60_000)}"b":1}`))).toBeUndefined();
    expect(parseJsonBody(Buffer.from(JSON.stringify([','.repeat(200_000)])))).toHaveLength(1);
  });

  it.each(['', '{', '"', '"\\"', 'undefined', '<html>', '{"a":1}}', '\ufeff'])('%j is none', (text) => {
    expect(parseJsonBody(Buffer.from(text))).toBeUndefined();
  });

  it('a compressed body is bounded too', () => {
    expect(decodedBody(gzipSync('abc'), ' GZIP', 100)?.toString()).toBe('abc');
    expect(decodedBody(gzipSync(Buffer.alloc(1_000_000)), 'gzip', 1000)).toBeUndefined();
    expect(decodedBody(gzipSync(Buffer.alloc(200_000)), 'gzip', 1e9)).toHaveLength(200_000);
    expect(decodedBody(gzipSync(Buffer.alloc(50_000_000)), 'gzip', 1e9)).toBeUndefined();
    const text = Buffer.from(randomBytes(1_000_000).toString('base64'));
    expect(decodedBody(gzipSync(text), 'gzip', 1e9)?.equals(text)).toBe(true);
    expect(decodedBody(Buffer.from('abc'), 'gzip', 100)).toBeUndefined();
    expect(decodedBody(Buffer.from('abc'), 'gzip, gzip', 100)).toBeUndefined();
    expect(decodedBody(Buffer.from('abc'), '', 100)?.toString()).toBe('abc');
  });
});
