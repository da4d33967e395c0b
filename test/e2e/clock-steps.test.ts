import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SandboxOperation, type SandboxRequest } from '../../packages/sandbox/src';
import { type ImageOutcome, type VideoOutcome } from '../../src/domain';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process';

const HOUR_MS = 3_600_000;
const SUPPORT = join(__dirname, '..', 'support');
const RETRY_AFTER_MS = 2_000;

/** What the clock meets, by the prompt of its call. */
const PHASES = {
  own: '[queue:0s] [run:20s] polled by its own workflow',
  shared: '[queue:0s] [run:20s] polled by a watcher',
  gate: '[queue:0s] [run:1s] behind a closed gate',
  download: '[queue:0s] [run:1s] with a file that is not there yet',
  create: '[queue:0s] [run:1s] refused for now while the clock steps',
  image: 'an image that is refused for now while the clock steps',
} as const;
type Phase = keyof typeof PHASES;

describe.each([
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
])('a clock of a worker that steps %s by an hour', (_way, stepMs) => {
  let stack: MediaStack;
  let worker: WorkerProcess;
  let outcomes: Record<Phase, Promise<VideoOutcome | ImageOutcome>>;

  beforeAll(async () => {
    stack = await startMediaStack();
    const file = join(stack.dataDir, 'clock');
    await writeFile(file, '0');
    const env = { CLOCK_STEP_FILE: file, NODE_OPTIONS: `--require ${join(SUPPORT, 'stepped-clock.js')}` };
    worker = await startWorkerProcess(stack, join(SUPPORT, 'crashing-worker.js'), env);
    const { admin } = stack.sandbox;
    const busy = { status: 429, headers: { 'retry-after': String(RETRY_AFTER_MS / 1000) }, body: {} };
    await admin.addFaults([
      {
        operation: 'poll',
        model: 'cine-1',
        action: { type: 'status', ...busy, headers: { 'retry-after': '8' } },
      },
      {
        operation: 'content',
        model: 'motion-omni',
        times: 3,
        action: { type: 'status', status: 503, body: {} },
      },
      ...(['create', 'generate'] as const).flatMap((operation) => [
        { operation, promptIncludes: 'refused for now', action: { type: 'delay', ms: 2_500 } } as const,
        { operation, promptIncludes: 'refused for now', action: { type: 'status', ...busy } } as const,
      ]),
    ]);
    const video = async (model: string, phase: Phase, polling: 'own' | 'shared' = 'own') => {
      const request = { model, prompt: PHASES[phase] };
      return (await stack.media.startVideo({ request, polling })).result();
    };
    const [own, shared] = [video('sketch-lite', 'own'), video('sketch-lite', 'shared', 'shared')];
    const [gate, download] = [video('cine-1', 'gate'), video('motion-omni', 'download')];
    await Promise.all([seen('poll', 3), seen('poll', 1, 429), seen('content', 1, 503)]);
    const create = video('sketch-lite', 'create');
    const image = stack.media.images
      .start({ request: { model: 'image-2', prompt: PHASES.image } })
      .then((call) => call.result());
    // While the service thinks about them, and the first poll after a gate that closed is seconds away.
    await Promise.all([seen('create', 5), seen('generate', 1)]);
    await writeFile(file, String(stepMs));
    outcomes = { own, shared, gate, download, create, image };
    for (const outcome of Object.values(outcomes)) outcome.catch(() => undefined);
  }, 120_000);

  afterAll(async () => {
    worker.signal('SIGKILL');
    await worker.gone;
    await stack.stop();
  });

  const seen = (operation: SandboxOperation, times: number, status?: number): Promise<SandboxRequest[]> =>
    eventually(`${times} ${operation} (${status ?? 'any'})`, async () => {
      const all = await stack.sandbox.admin.requests({ operation });
      const those = all.filter((request) => status === undefined || request.status === status);
      return those.length >= times && those;
    });

  it.each(Object.keys(PHASES) as Phase[])(
    '[C8.5] does not matter to a call in the phase %s',
    async (phase) => {
      expect(await outcomes[phase]).toMatchObject({ outcome: 'completed' });
    },
    60_000,
  );

  it.each(['create', 'generate'] as const)(
    '[C8.7] a %s is not sent again before its Retry-After',
    async (operation) => {
      const [refused, again] = (await seen(operation, 2)).filter(({ json }) =>
        ((json as { prompt?: string } | undefined)?.prompt ?? '').includes('refused for now'),
      );
      expect(again!.at - refused!.at).toBeGreaterThanOrEqual(2_500 + RETRY_AFTER_MS);
    },
  );
});
