import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { API_KEY, DownloadHarness, sha256 } from '../activities/download-harness';
import { makeMp4 } from '../stores/artifacts/make-media';
import { proved } from '../support/proof';
import { splicedFrom } from './good-files/spliced';
import { BODIES } from './malicious-server/body-cases';
import { type DownloadCase } from './malicious-server/download-case';
import { IMAGES, runImageCase } from './malicious-server/image-cases';
import { POLLS, runPollCase } from './malicious-server/poll-cases';
import { PROTOCOLS } from './malicious-server/protocol-cases';
import { REDIRECTS } from './malicious-server/redirect-cases';
import { TRANSFERS } from './malicious-server/transfer-cases';

const DOWNLOADS = [...TRANSFERS, ...BODIES, ...REDIRECTS, ...PROTOCOLS];

const counts = {
  downloads: 0,
  polls: 0,
  images: 0,
  videos: 0,
  kept: 0,
  partial: 0,
  wrong: 0,
  keys: 0,
  foreign: 0,
};
let video: Buffer;
let other: Buffer;

beforeAll(async () => {
  const front = async (shade: number) =>
    splicedFrom(await makeMp4(20, shade)).find(([name]) => name === 'moov first')![1];
  [video, other] = [await front(0), await front(99)];
});
afterAll(() =>
  proved('malicious-server', {
    'hostile downloads': DOWNLOADS.length,
    'hostile records': counts.polls,
    'hostile image replies': counts.images,
    'ended as expected': counts.downloads + counts.polls + counts.images,
    'good bytes taken all the same': counts.videos,
    'refused bytes kept for a person': counts.kept,
    'requests that another origin saw': counts.foreign,
    'key or cookie received by another origin': counts.keys,
    'partial files visible': counts.partial,
    'wrong bytes under a final name': counts.wrong,
  }),
);

describe('a download', () => {
  const run = async ({ content, media, record, ends, more, kept, slow }: DownloadCase): Promise<void> => {
    const harness = await DownloadHarness.open();
    try {
      const material = { harness, video, other, key: API_KEY };
      harness.bounds = { maxTries: 3, livingTries: 3, maxSameFault: 2, maxBytes: 2_000_000 };
      if (slow) hurry(harness);
      harness.content = content(material);
      harness.media = media?.(material) ?? harness.media;
      harness.record = record?.(material) ?? harness.record;
      const { result, failures } = await harness.run();
      const good = {
        video: sha256(video),
        other: sha256(other),
        more: sha256(Buffer.concat([video, more ?? Buffer.alloc(0)])),
      }[ends as string];
      await look(harness, good);
      const warnings = ends === 'more' ? [expect.stringContaining('not verified') as string] : [];
      expect({ ...result, failures }).toMatchObject(
        good !== undefined
          ? { outcome: 'downloaded', artifact: { sha256: good }, warnings }
          : {
              outcome: 'content_unavailable',
              reason: ends,
              ...(kept ? { rejected: { sha256: expect.any(String) as string } } : {}),
            },
      );
      if (result.outcome === 'downloaded') counts.videos += 1;
      else if (result.rejected !== null) {
        const bytes = await readFile(join(harness.root, 'rejected', `${result.rejected.sha256}.rejected`));
        expect(sha256(bytes)).toBe(result.rejected.sha256);
        expect(bytes.includes(API_KEY)).toBe(false);
        expect(await harness.store.has(result.rejected.sha256)).toBeNull();
        counts.kept += 1;
      }
      expect(JSON.stringify([result, failures, harness.heartbeats])).not.toContain(API_KEY);
      counts.downloads += 1;
    } finally {
      await harness.close();
    }
  };
  it.concurrent.each(DOWNLOADS.filter(({ heavy }) => heavy !== true))('$name', run);
  // Seconds of work in one piece: the others would meet their time limits meanwhile.
  it.each(DOWNLOADS.filter(({ heavy }) => heavy === true))('$name', run);

  /** Everything as in the field, only sooner. */
  function hurry(harness: DownloadHarness): void {
    const pace = { rateWindowMs: 300, minBytesPerRateWindow: 2_000 };
    harness.bounds = { ...harness.bounds, ...pace };
    const fetchContent = harness.client.fetchContent.bind(harness.client);
    jest
      .spyOn(harness.client, 'fetchContent')
      .mockImplementation((request) =>
        fetchContent({ ...request, headersTimeoutMs: 300, bodyIdleTimeoutMs: 300 }),
      );
  }

  /** What lies in the store, and what the other origin was told. */
  async function look(harness: DownloadHarness, good?: string): Promise<void> {
    const partial = await harness.parts();
    const stored = await readdir(join(harness.root, 'sha256'), {
      recursive: true,
      withFileTypes: true,
    }).catch(() => []);
    const wrong: string[] = [];
    for (const entry of stored.filter((one) => one.isFile())) {
      const bytes = await readFile(join(entry.parentPath, entry.name));
      const hash = createHash('sha256').update(bytes).digest('hex');
      const sidecar = bytes[0] === 0x7b && bytes.includes(`"sha256": "${good}"`);
      if (hash !== entry.name || (hash !== good && !sidecar)) wrong.push(entry.name);
    }
    const foreign = harness.seen.filter(({ place }) => place === 'media').map(({ request }) => request);
    const told = foreign.filter(
      ({ url, rawHeaders }) =>
        /authorization|cookie/i.test(rawHeaders.join('\n')) ||
        `${url}${rawHeaders.join('\n')}`.includes(API_KEY),
    );
    counts.partial += partial.length;
    counts.wrong += wrong.length;
    counts.foreign += foreign.length;
    counts.keys += told.length;
    // No cookie goes anywhere, not even back to the service.
    const cookies = harness.seen.filter(({ request }) => 'cookie' in request.headers);
    expect({ partial, wrong, told: told.length, cookies: cookies.length }).toEqual({
      partial: [],
      wrong: [],
      told: 0,
      cookies: 0,
    });
  }

  it('asks no further place when the time of a try is over', async () => {
    const harness = await DownloadHarness.open();
    harness.bounds = { maxTries: 1, livingTries: 1, tryDeadlineMs: 2_000 };
    harness.record = {
      status: 'completed',
      urls: ['/1', '/2', '/3'].map((path) => `${harness.mediaOrigin}${path}`),
    };
    harness.media = () => undefined;
    expect((await harness.run()).result).toMatchObject({
      outcome: 'content_unavailable',
      reason: 'not_ready',
    });
    expect(harness.count('media')).toBe(1);
    await harness.close();
  });
});

it('keeps the refused bytes of the last try, whatever the tries before it met', async () => {
  const harness = await DownloadHarness.open();
  try {
    harness.bounds = { maxTries: 1, livingTries: 1 };
    harness.content = (_request, response) => void response.end(video.subarray(0, video.length - 9));
    expect((await harness.run()).result).toMatchObject({
      outcome: 'content_unavailable',
      reason: 'incomplete_file',
      rejected: { sha256: sha256(video.subarray(0, video.length - 9)) },
    });
  } finally {
    await harness.close();
  }
});

describe('a record', () => {
  it.concurrent.each(POLLS)('$name', async (one) => {
    await runPollCase(one);
    counts.polls += 1;
  });
});

describe('an image reply', () => {
  it.concurrent.each(IMAGES)('$name', async (one) => {
    counts.keys += await runImageCase(one);
    counts.images += 1;
  });
});
