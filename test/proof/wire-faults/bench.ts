import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { type CreateJournal } from '../../../src/domain/journal';
import { FileArtifactStore } from '../../../src/stores/artifacts/file-store';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { makeMp4, makePng } from '../../stores/artifacts/make-media';
import { firstAttempt } from '../../support/first-attempt';
import { splicedFrom } from '../good-files/spliced';
import { type Certificates, makeCertificates } from './certificates';
import { type Operation, type Peer } from './script';

/** What all cells share. */
export interface Bench {
  readonly root: string;
  readonly journal: CreateJournal;
  readonly store: FileArtifactStore;
  readonly certificates: Certificates;
  readonly good: { readonly [operation in Operation]: Peer['good'] };
  readonly record: Peer['good'];
  readonly video: Buffer;
  /** Pictures below the input root: a small one, and one that takes long to upload. */
  readonly pictures: { readonly small: string; readonly large: string };
  /** A port that stays taken and on which nobody listens. */
  readonly closedPort: number;
  /** Another origin; every request line that arrives there is noted. */
  readonly trap: { readonly origin: string; readonly seen: string[]; turn(): Promise<void> };
  close(): Promise<void>;
}

export const TASK_ID = 'task-1';
/** Of a paid body that is still on its way when a fault strikes, in bytes. */
export const LARGE = 4 * 1024 * 1024;

const json = (value: unknown): Peer['good'] => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});

export async function openBench(): Promise<Bench> {
  const root = await mkdtemp(join(tmpdir(), 'wire-faults-'));
  const png = makePng(8, 8);
  const inputs = join(root, 'inputs');
  await mkdir(inputs);
  const pictures = { small: join(inputs, 'small.png'), large: join(inputs, 'large.png') };
  await writeFile(pictures.small, png);
  await writeFile(pictures.large, Buffer.concat([png, Buffer.alloc(LARGE, 7)]));
  // Its last bytes are those of the index: a cut loses something.
  const [, [, video]] = splicedFrom(await makeMp4(4)) as [unknown, [string, Buffer]];
  const store = new FileArtifactStore(join(root, 'artifacts'));
  await store.checkWritable();
  const trap = await openTrap(video);
  return {
    root,
    store,
    video,
    pictures,
    trap,
    closedPort: trap.closedPort,
    journal: createFileJournal({ root: join(root, 'journal') }),
    certificates: await makeCertificates(),
    good: {
      create: json({ id: TASK_ID, status: 'queued' }),
      edit: json({ created: 1, data: [{ b64_json: png.toString('base64') }] }),
      poll: json({ id: TASK_ID, status: 'in_progress', progress: 42 }),
      content: { type: 'video/mp4', body: video },
    },
    record: json({ id: TASK_ID, status: 'completed' }),
    close: async () => {
      await trap.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Gives a video to whoever asks, and keeps one of its own client ports busy: on that one nobody listens. */
async function openTrap(video: Buffer) {
  const seen: string[] = [];
  const server = createServer((socket) => {
    let head = '';
    socket
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        if (head === '') seen.push(chunk.toString('latin1').split('\r\n')[0] ?? '');
        head += chunk.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        const length = `content-length: ${video.length}`;
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\nconnection: close\r\n${length}\r\n\r\n`);
        socket.end(video);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const holder = connect(port, '127.0.0.1');
  await new Promise((resolve) => holder.once('connect', resolve));
  return {
    seen,
    origin: `http://127.0.0.1:${port}`,
    closedPort: holder.localPort!,
    /** What the kernel knew before this call, the event loop knows after it. */
    turn: async () => {
      const probe = connect(port, '127.0.0.1');
      await new Promise((resolve) => probe.once('connect', resolve));
      await new Promise((resolve) => probe.end(() => probe.once('close', resolve).resume()));
    },
    close: async () => {
      holder.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One execution of an activity; with `attempts: 1` it returns what it would otherwise be retried for. */
export function execute<R>(activityId: string, work: () => Promise<R>, attempts?: 1): Promise<R> {
  const info = {
    activityId,
    attempt: 1,
    startToCloseTimeoutMs: 900_000,
    scheduleToCloseTimeoutMs: 0,
    heartbeatTimeoutMs: 600_000,
    ...firstAttempt(),
    ...(attempts === undefined ? {} : { retryPolicy: { maximumAttempts: attempts } }),
  };
  // A line for each of a thousand paid calls would hide the results.
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
  return environment.run<never[], R, () => Promise<R>>(work);
}

/** Namespace of every such execution. */
export const NAMESPACE = 'default';
