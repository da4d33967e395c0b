import { join } from 'node:path';
import { ENTRIES, ROOT } from '../support/sources';
import { COMPANIONS, type PackedProject, packedProject } from './support/packed-project';

const TSC = join(ROOT, 'node_modules', 'typescript-7', 'bin', 'tsc');
const SPECIFIERS = [...ENTRIES.keys()];

/** A user's file that takes a value and a type from every entry, and one fault that the types must find. */
const TYPED = `
import { DEFAULT_TASK_QUEUE, type VideoOutcome } from 'temporal-media';
import { executeVideo } from 'temporal-media/workflows';
import { createMediaClient, type MediaClient } from 'temporal-media/activities';
import { createMediaWorker } from 'temporal-media/worker';
import { TemporalMediaClient } from 'temporal-media/client';
import { createTemporalMedia, type TemporalMediaProvider } from '@temporal-media/ai-sdk';
import { startNotices } from '@temporal-media/notices';
import { progressEvents } from '@temporal-media/progress';
import { buildTimeline } from '@temporal-media/replay';
import { writeReport } from '@temporal-media/report';
import { createSandbox } from '@temporal-media/sandbox';
import { artifactStoreConformance } from '@temporal-media/testing';
import { generateVideo as fakeVideo } from '@temporal-media/testing/workflows';
import { createS3ArtifactStore, createS3Client, type S3Place } from '@temporal-media/store-s3';
import { MediaPlugin } from 'temporal-media/plugin';
import { createPostgresRecords, type PostgresRecords } from '@temporal-media/store-postgres';

export const records = (url: string): PostgresRecords => createPostgresRecords({ url });
export async function film(prompt: string): Promise<VideoOutcome['outcome']> {
  return (await executeVideo({ request: { model: 'cine-1', prompt, durationSeconds: 2 } }, { taskQueue: 'media' })).outcome;
}
// @ts-expect-error a request without a model
export const faulty = () => executeVideo({ request: { prompt: 'a kite' } }, { taskQueue: 'media' });
export const client: MediaClient = createMediaClient({ baseUrl: 'https://api.example.com', apiKey: () => 'k' });
export const values: readonly unknown[] = [DEFAULT_TASK_QUEUE, createMediaWorker, TemporalMediaClient, createSandbox, fakeVideo, buildTimeline, writeReport, startNotices, progressEvents, new MediaPlugin()];
export const provider = (media: TemporalMediaClient): TemporalMediaProvider => createTemporalMedia({ media, store: createS3ArtifactStore({ ...bucket(), folder: 'work' }) });
export const bucket = (): S3Place => ({ client: createS3Client(), bucket: 'media', prefix: '' });
export const checks = artifactStoreConformance(async () => ({
  store: createS3ArtifactStore({ ...bucket(), folder: 'work' }),
  damage: async () => {},
  dispose: async () => {},
}));
`;

/** What Node adds to the namespace of a CommonJS module. */
const ADDED = new Set(['default', 'module.exports', '__esModule']);

describe('projects that use the packed package', () => {
  let project: PackedProject;
  beforeAll(async () => {
    project = await packedProject({ companions: COMPANIONS, extra: ['@opentelemetry/api', '@types/node'] });
  });
  afterAll(() => project.remove());

  it('CommonJS and ES modules see the same names, those of the sources', async () => {
    const names = `Object.fromEntries(modules.map(([name, module]) => [name, Object.keys(module)]))`;
    const required = SPECIFIERS.map((name) => `['${name}', require('${name}')]`).join(', ');
    const imported = SPECIFIERS.map((name) => `['${name}', await import('${name}')]`).join(', ');
    await project.write('all.cjs', `const modules = [${required}];\nconsole.log(JSON.stringify(${names}));`);
    await project.write('all.mjs', `const modules = [${imported}];\nconsole.log(JSON.stringify(${names}));`);
    const [commonJs, esm] = [await namesOf(project, 'all.cjs'), await namesOf(project, 'all.mjs')];
    expect(esm).toEqual(commonJs);
    expect(commonJs).toEqual(sourceNames());
  });

  it('an ES module imports by name, statically, and calls', async () => {
    await project.write(
      'static.mjs',
      `import { videoTaskById } from 'temporal-media';
       import { requestFingerprint, TemporalMediaClient } from 'temporal-media/client';
       import { normaliseBaseUrl } from 'temporal-media/activities';
       console.log(typeof videoTaskById, typeof requestFingerprint, TemporalMediaClient.name);
       console.log(normaliseBaseUrl('https://api.example.com/v1/'));`,
    );
    expect(await project.node('static.mjs')).toEqual({
      exitCode: 0,
      stdout: 'function function TemporalMediaClient\nhttps://api.example.com\n',
      stderr: '',
    });
  });

  const FLAGS = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--types',
    'node',
    '--target',
    'es2022',
  ];
  const typed = async (): Promise<readonly string[]> => {
    for (const name of ['typed.mts', 'typed.cts']) await project.write(name, TYPED);
    return ['typed.mts', 'typed.cts'];
  };

  it('.mts and .cts are type-checked as a bundler resolves them', async () => {
    const how = ['--skipLibCheck', '--module', 'preserve', '--moduleResolution', 'bundler'];
    expect(await project.node(TSC, ...FLAGS, ...how, ...(await typed()))).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('.mts and .cts are type-checked as Node resolves them, and our declarations with them', async () => {
    const how = ['--skipLibCheck', 'false', '--module', 'node16'];
    const { stdout, stderr } = await project.node(TSC, ...FLAGS, ...how, ...(await typed()));
    expect(stderr).toBe('');
    // Declarations of other packages have faults of their own under these flags.
    const ours = stdout
      .split('\n')
      .filter((line) => /^(?:typed\.[cm]ts|.*temporal-media\/(?:[a-z0-9-]+\/)?lib\/.*)\(\d/.test(line));
    expect(ours).toEqual([]);
  });
});

async function namesOf(project: PackedProject, file: string): Promise<Record<string, readonly string[]>> {
  const { stdout, stderr } = await project.node(file);
  expect(stderr).toBe('');
  const all = JSON.parse(stdout) as Record<string, readonly string[]>;
  return Object.fromEntries(
    Object.entries(all).map(([name, names]) => [name, names.filter((one) => !ADDED.has(one)).sort()]),
  );
}

/** jest maps the package's names to its sources. */
function sourceNames(): Record<string, readonly string[]> {
  return Object.fromEntries(
    SPECIFIERS.map((name) => [name, Object.keys(jest.requireActual<object>(name)).sort()]),
  );
}
