import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { imageSize } from 'image-size';
import { createFile, MP4BoxBuffer } from 'mp4box';
import { DEMO_CASES } from '../../packages/cli/src/demo/cases';
import { type DemoReport } from '../../packages/cli/src/demo/run';
import { runJson } from './support/run-cli';

describe('temporal-media demo', () => {
  let out: string;
  beforeAll(async () => {
    out = await mkdtemp(path.join(tmpdir(), 'temporal-media-demo-test-'));
  });
  afterAll(() => rm(out, { recursive: true, force: true }));

  test('[C4.4a] every expected outcome comes true and the sandbox has counted every create once', async () => {
    // A service of the user must never be billed by a demo: nothing listens there, so a single call would fail it.
    const { code, reply, stderr } = await runJson(['demo', '--out', out], {
      MEDIA_BASE_URL: 'http://127.0.0.1:9',
      MEDIA_API_KEY: 'a-real-key',
    });
    const report = reply.data as unknown as DemoReport;
    expect({ code, failed: report.rows.filter((row) => !row.ok) }).toEqual({ code: 0, failed: [] });
    expect(report.rows.map(({ name }) => name)).toEqual(DEMO_CASES.map(({ name }) => name));
    expect(report.checks.every(({ ok }) => ok)).toBe(true);
    const files = report.rows.flatMap((row) => row.files);
    expect(files.filter((file) => file.endsWith('.mp4'))).toHaveLength(8);
    expect(files.filter((file) => file.endsWith('.png'))).toHaveLength(2);
    for (const file of files) {
      if (file.endsWith('.png')) expect(imageSize(await readFile(file)).type).toBe('png');
      else expect(framesOf(await readFile(file))).toBeGreaterThanOrEqual(20);
    }
    expect(stderr).toContain('evidence: cause connection_lost_after_send');
  });
});

/** Number of frames by an independent parser; 0 when it finds no video track. */
function framesOf(bytes: Buffer): number {
  let frames = 0;
  const file = createFile();
  file.onReady = ({ videoTracks }) => {
    frames = videoTracks[0]?.nb_samples ?? 0;
  };
  file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(new Uint8Array(bytes).buffer, 0));
  file.flush();
  return frames;
}
