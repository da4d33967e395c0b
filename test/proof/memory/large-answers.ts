import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { makeMp4, makePng } from '../../stores/artifacts/make-media';

const GIB = 1024 ** 3;

/** A server whose answers are small below `/small` and without measure below `/large`; counts what it sent. */
export interface LargeAnswers {
  readonly origin: string;
  /** Bytes of bodies that were handed to the socket, by case. */
  readonly sent: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

interface Answer {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string | number };
  /** The bytes, piece after piece; a piece may come up to `times` times. */
  readonly pieces: readonly { readonly bytes: Buffer; readonly times?: number }[];
}

const once = (bytes: Buffer | string, rest: Partial<Answer> = {}): Answer => ({
  pieces: [{ bytes: Buffer.from(bytes) }],
  ...rest,
});
const endless = (head: string, filler: string, rest: Partial<Answer> = {}): Answer => {
  const bytes = Buffer.alloc(65_536, filler);
  return { pieces: [{ bytes: Buffer.from(head) }, { bytes, times: GIB / bytes.length }], ...rest };
};
/** 50 MB that take 50 kB on the way. */
const bomb = (head: string): Answer =>
  once(gzipSync(Buffer.concat([Buffer.from(head), Buffer.alloc(50_000_000, 'a'), Buffer.from('"}')])), {
    headers: { 'content-encoding': 'gzip' },
  });

const RECORD = '{"id":"t1","status":"completed"}';
const HEADS: { readonly [call: string]: string } = {
  create: '{"id":"t1","status":"queued","note":"',
  images: '{"created":1,"note":"',
  record: '{"id":"t1","status":"queued","note":"',
  models: '{"version":1,"note":"',
};

/** A whole video with a second box of media data, as large as wanted, made while it is sent. */
function largeVideo(mp4: Buffer, bytes: number): Answer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE(1, 0);
  header.write('mdat', 4, 'latin1');
  const filler = Buffer.alloc(1024 * 1024, 7);
  const times = Math.ceil((bytes - mp4.length - 16) / filler.length);
  header.writeBigUInt64BE(BigInt(16 + times * filler.length), 8);
  return {
    headers: { 'content-type': 'video/mp4', 'content-length': mp4.length + 16 + times * filler.length },
    pieces: [{ bytes: mp4 }, { bytes: header }, { bytes: filler, times }],
  };
}

export async function serveLargeAnswers(videoBytes: number): Promise<LargeAnswers> {
  const mp4 = await makeMp4(4);
  const png = makePng(3, 2);
  const small: { readonly [call: string]: Answer } = {
    create: once('{"id":"t1","status":"queued"}'),
    images: once(`{"data":[{"b64_json":"${png.toString('base64')}"}]}`),
    record: once(RECORD),
    image: once(png),
    fetched: once(png),
    refusal: once('{"error":{"code":"not_ready"}}', { status: 404 }),
    models: once('{"version":1,"models":[]}'),
    video: once(mp4, { headers: { 'content-type': 'video/mp4', 'content-length': mp4.length } }),
  };
  const large = (name: string): Answer => {
    const [call = '', kind] = name.split('-');
    if (call === 'video') return largeVideo(mp4, videoBytes);
    if (call === 'image') {
      const claim = Buffer.from(png);
      claim.writeUInt32BE(50_000, 16);
      claim.writeUInt32BE(50_000, 20);
      return once(claim);
    }
    if (kind === 'bomb') return bomb(HEADS[call] ?? '');
    if (kind === 'values') return once(`{"id":"t1","status":"queued","list":[${'{},'.repeat(5_000_000)}{}]}`);
    if (kind === 'keys')
      return once(
        `{${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(',')},"id":"t1"}`,
      );
    return endless(HEADS[call] ?? '{"error":"', 'a', call === 'refusal' ? { status: 404 } : {});
  };
  const sent = new Map<string, number>();
  const server = createServer((request, response) => {
    const [, name = '', size, ...rest] = (request.url ?? '').split('/');
    const call = name.split('-')[0] ?? '';
    // The activity reads the record before it asks for the content.
    const isRecord = call === 'video' && rest.at(-1) !== 'content';
    const answer = isRecord ? small['record'] : size === 'small' ? small[call] : large(name);
    request.resume();
    void send(answer!, response, (bytes) => sent.set(name, (sent.get(name) ?? 0) + bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function send(
  { status = 200, headers, pieces }: Answer,
  response: ServerResponse,
  count: (bytes: number) => void,
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  for (const { bytes, times = 1 } of pieces) {
    for (let left = times; left > 0 && !response.destroyed; left -= 1) {
      count(bytes.length);
      if (!response.write(bytes)) await drained(response);
    }
  }
  response.end();
}

async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
