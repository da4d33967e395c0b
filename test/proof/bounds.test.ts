import { readdir } from 'node:fs/promises';
import { type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type MediaClient } from '../../src/service/media-client';
import { DownloadHarness, inTurn, fileAnswer } from '../activities/download-harness';
import { clientOf, jsonBody, send } from '../service/client-under-test';
import { afterRequest, type Loopback, loopback, rawLoopback } from '../service/loopback-service';
import { makeMp4 } from '../stores/artifacts/make-media';
import { proved } from '../support/proof';

const MIB = 1024 * 1024;

/** What a hostile service answers, written piece by piece. */
type Body = (response: ServerResponse) => void;

const text =
  (body: string): Body =>
  (response) =>
    void response.end(body);
/** `piece` again and again until the other side has enough. */
const forEver =
  (head: string, piece: string): Body =>
  (response) => {
    response.write(head);
    const more = () => {
      while (!response.destroyed && response.write(piece)) continue;
    };
    response.on('drain', more);
    more();
  };

const HOSTILE: readonly (readonly [name: string, body: Body])[] = [
  ['an endless text', forEver('{"id":"t1","status":"queued","x":"', 'a'.repeat(65_536))],
  ['endless values', forEver('{"id":"t1","status":"queued","x":[', '{},'.repeat(20_000))],
  ['endless blanks', forEver('', ' '.repeat(65_536))],
  ['100,000 levels', text(`{"id":"t1","status":"queued","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)],
  ['100,000 levels of objects', text(`${'{"error":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
  [
    'a million keys',
    text(
      `{${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(',')},"id":"t1","status":"queued"}`,
    ),
  ],
  ['a million items', text(`{"id":"t1","status":"queued","data":[${'{},'.repeat(999_999)}{}]}`)],
];

/** Each call of the client and the words that it may end with. */
const CALLS: readonly (readonly [
  name: string,
  call: (client: MediaClient) => Promise<string>,
  ends: RegExp,
])[] = [
  [
    'create',
    async (client) => heartbeatOf(await client.createVideo(jsonBody(), send())),
    /^unconfirmed: reply_\w+$/,
  ],
  [
    'images',
    async (client) => heartbeatOf(await client.generateImage(jsonBody(), send())),
    /^unconfirmed: reply_\w+$/,
  ],
  [
    'record',
    async (client) => {
      const result = await client.getVideo('t1');
      return result.kind === 'error' ? result.error : result.kind;
    },
    /^unreadable$/,
  ],
];

const heartbeatOf = (result: { readonly class: string; readonly cause?: string }) =>
  `${result.class}: ${result.cause}`;

const counts = { answers: 0, 'answers taken for a result': 0, 'bytes read beyond a limit': 0 };
const places = { ids: 0, 'ids that left their place': 0, names: 0, 'files named by the service': 0 };
const late = { drips: 0, 'drips that outlived their time': 0 };

describe('size and depth', () => {
  let service: Loopback;
  let body: Body = text('');
  beforeAll(async () => {
    service = await loopback((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      body(response);
    });
  });
  afterAll(() => service.close());

  // An image call may bring a quarter of a gigabyte: one that never ends is enough of those.
  const cells = HOSTILE.flatMap(([what, answer]) =>
    CALLS.map(([name, call, ends]) => ({ what, answer, name, call, ends })),
  ).filter(({ name, what }) => name !== 'images' || !/^endless (?:values|blanks)$/.test(what));
  it.each(cells)('$name: $what is no result', async ({ answer, call, ends }) => {
    body = answer;
    const client = clientOf(service.origin);
    const word = await call(client);
    await client.close();
    counts.answers += 1;
    if (!ends.test(word)) counts['answers taken for a result'] += 1;
    expect(word).toMatch(ends);
  });

  it('of a refusal no more than 64 KiB are read, and the socket is closed', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      body = (response) => {
        response.on('close', resolve);
        const piece = Buffer.alloc(65_536, 'x');
        const more = () => {
          while (!response.destroyed && written < 1024 * MIB) {
            written += piece.length;
            if (!response.write(piece)) return;
          }
        };
        response.on('drain', more);
        more();
      };
    });
    const refusing = await loopback((_request, response) => {
      response.writeHead(503);
      body(response);
    });
    const client = clientOf(refusing.origin);
    const result = await client.fetchContent({ url: client.contentUrl('t1') });
    await closed;
    await client.close();
    await refusing.close();
    expect(result).toMatchObject({ kind: 'refused', status: 503 });
    // What the sockets of both sides hold on the way was written, but never read.
    const most = 16 * MIB;
    counts.answers += 1;
    counts['bytes read beyond a limit'] += Math.max(0, written - most);
    expect(written).toBeLessThan(most);
  });
});

describe('time', () => {
  /** One byte at a time, for ever: each of them keeps an idle timer quiet. */
  const DRIPS = [
    ['the status line', 'HTTP/1.1 200 '],
    ['a header', 'HTTP/1.1 200 OK\r\nx-drip: '],
    [
      'the body',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{"id":"',
    ],
    ['a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n{"id":"'],
  ] as const;
  const cells = DRIPS.flatMap(([what, head]) => [
    { what, head, name: 'create' as const, ends: /^unconfirmed: timeout_after_send$/ },
    { what, head, name: 'record' as const, ends: /^(?:network|late)$/ },
  ]);

  it.concurrent.each(cells)(
    '$name: one byte at a time in $what ends with its deadline',
    async ({ head, name, ends }) => {
      const service = await rawLoopback((socket) =>
        afterRequest(socket, () => {
          socket.write(head);
          const drip = setInterval(() => socket.write('a'), 20);
          socket.on('close', () => clearInterval(drip));
        }),
      );
      const client = clientOf(service.origin, {
        timeouts: { paidHttpMs: 600, pollHeadersMs: 600, pollBodyMs: 600 },
      });
      const found = CALLS.find(([one]) => one === name)!;
      const word = await found[1](client);
      await client.close();
      await service.close();
      late.drips += 1;
      if (!ends.test(word)) late['drips that outlived their time'] += 1;
      expect(word).toMatch(ends);
    },
  );
});

describe('places', () => {
  const IDS = [
    '../../x',
    '..',
    '.',
    '%2e%2e',
    'a/../../b',
    'a\u0000b',
    'x'.repeat(10_000),
    '\ud800',
    '',
    ' ',
    '\u0085',
    'a?b#c',
    'a\\..\\b',
    '//host/x',
    'https://host/',
  ];

  it.each(IDS.map((id) => [JSON.stringify(id).slice(0, 30), id]))(
    'the id %s stays in its segment, or is none',
    async (_shown, id) => {
      const service = await loopback((request, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify(request.method === 'POST' ? { id, status: 'queued' } : { id, status: 'queued' }),
        );
      });
      const client = clientOf(`${service.origin}/prefix`);
      const created = await client.createVideo(jsonBody(), send());
      await client.getVideo(created.class === 'accepted' ? created.taskId : id);
      await client.close();
      await service.close();
      const gets = service.seen.filter(({ method }) => method === 'GET').map(({ url }) => url.split('/'));
      places.ids += 1;
      const left = gets.filter(
        (path) =>
          path.length !== 5 ||
          path.slice(1, 4).join('/') !== 'prefix/v1/videos' ||
          decodeURIComponent(path[4]!) !== id,
      );
      places['ids that left their place'] += left.length;
      expect(left).toEqual([]);
      expect(gets).toHaveLength(created.class === 'accepted' ? 1 : 0);
    },
  );

  it('no name of the service becomes the name of a file', async () => {
    const harness = await DownloadHarness.open();
    const mp4 = await makeMp4(2);
    const names = ['../../evil.sh', '/etc/evil', 'evil\u0000.mp4', 'evil.mp4'];
    for (const name of names) {
      const disposition = `attachment; filename="${name.replace('\u0000', '%00')}"; filename*=UTF-8''${encodeURIComponent(name)}`;
      harness.record = {
        id: 'evil-record',
        status: 'completed',
        filename: name,
        url: `${harness.mediaOrigin}/evil.mp4`,
      };
      harness.content = inTurn((request, response) => {
        response.setHeader('content-disposition', disposition);
        response.setHeader('content-location', '/evil.mp4');
        fileAnswer(mp4, '"evil"')(request, response);
      });
      const { result } = await harness.run();
      expect(result).toMatchObject({ outcome: 'downloaded' });
      places.names += 1;
    }
    const files = await readdir(harness.root, { recursive: true });
    places['files named by the service'] += files.filter((file) => /evil/i.test(join('/', file))).length;
    await harness.close();
    expect(files.filter((file) => /evil/i.test(file))).toEqual([]);
  });
});

afterAll(() => proved('bounds', { ...counts, ...late, ...places }));
