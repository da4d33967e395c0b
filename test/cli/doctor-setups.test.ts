import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { freePort } from '../../src/stores/files/this-machine';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { type CliBench, openCliBench } from './support/cli-bench';
import { expectNothingBought, runDoctor, startPolledWorker } from './support/doctor-run';

describe('temporal-media doctor and one thing that is broken', () => {
  let bench: CliBench;
  beforeAll(async () => {
    bench = await openCliBench();
    await startPolledWorker(bench);
  });
  afterEach(() => expectNothingBought(bench));
  afterAll(() => bench.close());

  /** [what is broken, its variables, check, type, exit code, remedy] */
  type SetUp = [string, () => Promise<NodeJS.ProcessEnv>, string, string, number, RegExp];
  const setUps: SetUp[] = [
    [
      'no Temporal server',
      async () => ({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` }),
      ...(['temporal', 'temporal_unreachable', 69, /`temporal-media dev`.*set TEMPORAL_ADDRESS/] as const),
    ],
    [
      'a proxy that only gRPC takes for the Temporal server',
      async () => ({ http_proxy: `http://127.0.0.1:${await freePort()}`, NO_PROXY: '127.0.0.1' }),
      ...([
        'temporal',
        'temporal_unreachable',
        69,
        /If http_proxy must not apply to it, add its host to no_proxy/,
      ] as const),
    ],
    [
      'a profile that does not exist',
      async () => ({ TEMPORAL_ADDRESS: '', TEMPORAL_PROFILE: 'nobody' }),
      ...(['temporal', 'configuration', 78, /TEMPORAL_PROFILE/] as const),
    ],
    [
      'a namespace that the server does not have',
      async () => ({ TEMPORAL_NAMESPACE: 'no-such-namespace' }),
      ...(['namespace', 'namespace_not_found', 78, /Set TEMPORAL_NAMESPACE/] as const),
    ],
    [
      'no worker on the task queue',
      async () => ({ MEDIA_TASK_QUEUE: bench.server.uniqueId('cli') }),
      ...(['workers', 'no_worker', 69, /temporal-media worker`.*MEDIA_TASK_QUEUE/] as const),
    ],
    [
      'no key',
      async () => ({ MEDIA_API_KEY: '' }),
      ...(['settings', 'configuration', 78, /Fix MEDIA_API_KEY where the worker runs/] as const),
    ],
    [
      'a key file that cannot be read',
      async () => ({ MEDIA_API_KEY_FILE: path.join(bench.dir, 'no-such-key') }),
      ...(['settings', 'configuration', 78, /Fix MEDIA_API_KEY_FILE/] as const),
    ],
    [
      'a key without a base address',
      async () => ({ MEDIA_BASE_URL: '' }),
      ...(['settings', 'configuration', 78, /Fix MEDIA_BASE_URL/] as const),
    ],
    [
      'a base address that is none',
      async () => ({ MEDIA_BASE_URL: 'api.example.com' }),
      ...(['settings', 'configuration', 78, /Fix MEDIA_BASE_URL/] as const),
    ],
    [
      'a policy that is no JSON',
      async () => ({ MEDIA_CREATE_POLICY: 'resend' }),
      ...(['settings', 'configuration', 78, /Fix MEDIA_CREATE_POLICY/] as const),
    ],
    [
      'no file with the model configuration',
      async () => ({ MEDIA_MODELS: path.join(bench.dir, 'no-models.json') }),
      ...(['models', 'models_unavailable', 78, /Set MEDIA_MODELS/] as const),
    ],
    [
      'a model configuration that is no JSON',
      async () => ({ MEDIA_MODELS: await file('broken.json', '{"models": [') }),
      ...(['models', 'models_unavailable', 78, /Set MEDIA_MODELS/] as const),
    ],
    [
      'a model configuration of another shape',
      async () => ({ MEDIA_MODELS: await file('shape.json', '{"v": 1, "models": [{"name": "x"}]}') }),
      ...(['models', 'models_unavailable', 78, /schema models/] as const),
    ],
    [
      'a model configuration without a video model',
      async () => ({
        MEDIA_MODELS: await file(
          'images.json',
          '{"version": 1, "models": [{"id": "image-2", "kind": "image"}]}',
        ),
      }),
      ...(['models', 'models_unavailable', 78, /Add a video model/] as const),
    ],
    [
      'a journal that is not the one of the queue',
      async () => {
        const MEDIA_JOURNAL = path.join(bench.dir, 'other-journal');
        await createFileJournal({ root: MEDIA_JOURNAL }).identity();
        return { MEDIA_JOURNAL };
      },
      ...(['binding', 'journal_binding', 78, /that journal or another task queue.*--rebind/] as const),
    ],
    [
      'no journal yet, but a queue that is bound to one',
      async () => ({ MEDIA_JOURNAL: path.join(bench.dir, 'no-journal') }),
      ...(['binding', 'journal_binding', 78, /Use that journal/] as const),
    ],
    [
      'the journal of the queue on another host',
      async () => ({ MEDIA_HOST_ID: 'another-host' }),
      ...(['binding', 'journal_binding', 78, /Use that journal/] as const),
    ],
    [
      'another artifact store than that of the queue',
      async () => {
        const MEDIA_ARTIFACTS = path.join(bench.dir, 'other-artifacts');
        await new FileArtifactStore(MEDIA_ARTIFACTS).identity();
        return { MEDIA_ARTIFACTS };
      },
      ...(['binding', 'journal_binding', 78, /Set MEDIA_ARTIFACTS/] as const),
    ],
    [
      'a file where the journal should be',
      async () => ({ MEDIA_JOURNAL: await file('journal-file', '') }),
      ...(['journal', 'journal_unusable', 73, /Set MEDIA_JOURNAL/] as const),
    ],
    [
      'a file where the artifact store should be',
      async () => ({ MEDIA_ARTIFACTS: await file('artifacts-file', '') }),
      ...(['artifacts', 'artifacts/not_writable', 73, /Set MEDIA_ARTIFACTS/] as const),
    ],
    [
      'a file inside the artifact store where a folder should be',
      async () => {
        const MEDIA_ARTIFACTS = path.join(bench.dir, 'spoilt');
        await mkdir(MEDIA_ARTIFACTS, { recursive: true });
        await writeFile(path.join(MEDIA_ARTIFACTS, 'parts'), '');
        return { MEDIA_ARTIFACTS };
      },
      ...(['artifacts', 'artifacts/not_writable', 73, /Set MEDIA_ARTIFACTS/] as const),
    ],
  ];
  async function file(name: string, content: string): Promise<string> {
    const at = path.join(bench.dir, name);
    await writeFile(at, content);
    return at;
  }

  test.each(setUps)(
    '%s: only that fails, with its remedy',
    async (_title, broken, name, type, code, remedy) => {
      const env = { ...bench.workerEnv, ...(await broken()) };
      const run = await runDoctor(env);
      expect(run.failed).toEqual([name]);
      expect([run.error?.type, run.code]).toEqual([type, code]);
      expect(run.checks[name]).toMatchObject({ state: 'failed', errorType: type, remedy: run.error?.hint });
      expect(run.error?.hint).toMatch(remedy);
      expect(run.summary).toContain(`1 of 14 checks failed (${name})`);
      expect(run.text).not.toContain('sandbox-key');
      expect(run.text).not.toContain(bench.dir);
    },
  );
});
