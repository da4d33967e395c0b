import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { renderImage } from '../../../packages/sandbox/src/render-image';
import { type CliBench, openCliBench } from '../support/cli-bench';
import { runCli, runJson } from '../support/run-cli';

/** A bad call: its arguments, and the environment beside that of the worker. */
interface Bad {
  readonly what: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly type?: string;
}

const video = (...more: string[]): string[] => ['video', '--prompt', 'x', '--model', 'cine-1', ...more];
const image = (...more: string[]): string[] => ['image', '--prompt', 'x', '--model', 'image-2', ...more];

describe('what a dry run refuses, the command refuses before it starts anything', () => {
  let bench: CliBench;
  let file: (name: string) => string;
  let number = 0;

  /** The command with `--dry-run` and without, under an id of its own. */
  const both = async ({ args, env = {} }: Pick<Bad, 'args' | 'env'>) => {
    const id = bench.server.uniqueId(`bad-${(number += 1)}`);
    const out = args[0] === 'campaign' ? [] : ['--out', bench.dir];
    const all = { ...bench.workerEnv, ...env };
    const given = args.map((one) => one.replace('DIR/', `${bench.dir}/`));
    const [dry, real] = await Promise.all([
      runJson([...given, '--id', id, '--dry-run'], all),
      runJson([...given, '--id', id, ...out], all),
    ]);
    return { id, dry, real };
  };
  const started = async (id: string): Promise<boolean> =>
    bench.server.client.workflow
      .getHandle(id)
      .describe()
      .then(
        () => true,
        () => false,
      );

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 0 } });
    file = (name) => path.join(bench.dir, name);
    const spec = { kind: 'image', model: 'm', prompt: 'cup', width: 16, height: 16, index: 0 } as const;
    await Promise.all([
      writeFile(file('cup.png'), renderImage({ ...spec, inputs: [] })),
      writeFile(file('text.png'), 'no image'),
      writeFile(file('broken.json'), '{"version": 1,'),
      writeFile(file('values.csv'), 'model,prompt,duration\ncine-1,a boat,3\n'),
      writeFile(file('unpriced.csv'), 'model,prompt\nsketch-lite,a boat\n'),
      writeFile(file('header.csv'), 'model,promt\ncine-1,a boat\n'),
      writeFile(file('twice.csv'), 'id,model,prompt\na,cine-1,a boat\na,cine-1,a pier\n'),
      writeFile(file('files.csv'), 'model,prompt,images,operation\nimage-2,a boat,file:none.png,edit\n'),
      writeFile(file('images.csv'), 'model,prompt,size\nimage-2,a boat,512x512\n'),
    ]);
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  const REFUSED: readonly Bad[] = [
    { what: 'a value that the model does not have', args: video('--duration', '3') },
    { what: 'a model that is unknown', args: ['video', '--prompt', 'x', '--model', 'cine-9'] },
    { what: 'a model of the other kind', args: ['video', '--prompt', 'x', '--model', 'image-2'] },
    { what: 'a field that the model does not have', args: video('--field', 'wings=2') },
    {
      what: 'a reference that the model does not take',
      args: video('--reference', 'audio=https://a.example/a'),
    },
    { what: 'a file that the store gives no address of', args: video('--reference', 'image=DIR/cup.png') },
    { what: 'a file that is not there', args: video('--reference', 'image=DIR/none.png') },
    { what: 'a size of an image', args: image('--size', '7x7') },
    { what: 'too many images', args: image('--n', '99') },
    { what: 'an edit of a text', args: ['edit', ...image('--image', 'DIR/text.png').slice(1)] },
    {
      what: 'an edit of an address',
      args: ['edit', ...image('--image', 'https://a.example/a.png').slice(1)],
    },
    {
      what: 'an edit with a size that the model does not have',
      args: ['edit', ...image('--image', 'DIR/cup.png', '--size', '7x7').slice(1)],
    },
    {
      what: 'a model configuration that cannot be read',
      args: video(),
      env: { MEDIA_MODELS: '/no-such-folder/models.json' },
      type: 'models_unavailable',
    },
    {
      what: 'accounts that cannot be read',
      args: video(),
      env: { MEDIA_ACCOUNTS: '/no-such-folder/accounts.json' },
      type: 'configuration',
    },
    { what: 'a limit that is no amount', args: video('--max-spend', 'much') },
    { what: 'rows with bad values', args: ['campaign', 'run', 'DIR/values.csv'], type: 'manifest_invalid' },
    {
      what: 'a budget without prices',
      args: ['campaign', 'run', 'DIR/unpriced.csv', '--budget', '5USD'],
      type: 'budget_refused',
    },
    { what: 'an unknown column', args: ['campaign', 'run', 'DIR/header.csv'], type: 'manifest_invalid' },
    {
      what: 'a file of a row that is not there',
      args: ['campaign', 'run', 'DIR/files.csv'],
      type: 'manifest_invalid',
    },
    {
      what: 'an unknown column, where no models are known',
      args: ['campaign', 'run', 'DIR/header.csv'],
      env: { MEDIA_MODELS: '' },
      type: 'manifest_invalid',
    },
    {
      what: 'an id of two rows, where no models are known',
      args: ['campaign', 'run', 'DIR/twice.csv'],
      env: { MEDIA_MODELS: '' },
      type: 'manifest_invalid',
    },
    {
      what: 'a missing file, where no models are known',
      args: ['campaign', 'run', 'DIR/files.csv'],
      env: { MEDIA_MODELS: '' },
      type: 'manifest_invalid',
    },
  ];

  test.each(REFUSED)(
    '$what: the same message and exit code',
    async ({ type = 'rejected/invalid_request', ...bad }) => {
      const before = await bench.sandbox.admin.counters();
      const { id, dry, real } = await both(bad);
      expect(dry.reply.error?.type).toBe(type);
      expect([real.code, real.reply.error]).toEqual([dry.code, dry.reply.error]);
      expect(await started(id)).toBe(false);
      const after = await bench.sandbox.admin.counters();
      expect([after.creates, after.images]).toEqual([before.creates, before.images]);
    },
  );

  test('what only the worker knows is left to it: neither refuses it here, and the worker buys it', async () => {
    const args = ['video', '--model', 'motion-omni', '--prompt', 'x', '--field', 'seed=4'];
    const { dry, real } = await both({
      args: [...args, '--duration', '3', '--reference', 'image=DIR/cup.png'],
      env: { MEDIA_MODELS: '' },
    });
    expect([dry.code, real.code]).toEqual([0, 0]);
    expect(dry.reply.data).toMatchObject({
      model: 'unlisted',
      request: {
        body: {
          '<field of reference 1>': expect.stringMatching(/^<file sha256:[0-9a-f]{64} \d+ bytes>$/) as string,
        },
      },
    });
    const rows = await both({ args: ['campaign', 'run', 'DIR/images.csv'], env: { MEDIA_MODELS: '' } });
    expect([rows.dry.code, rows.real.code]).toEqual([0, 0]);
  });

  test('an account that is not among those of this machine is one of another worker: nothing of it is refused here', async () => {
    const accounts = file('accounts.json');
    await writeFile(file('a.key'), 'sandbox-key');
    const list = [{ name: 'studio-a', baseUrl: bench.sandbox.url, keyFile: 'a.key' }];
    await writeFile(accounts, JSON.stringify({ version: 1, accounts: list }));
    const dry = (account: string) =>
      runJson(video('--duration', '3', '--dry-run', '--account', account), {
        ...bench.workerEnv,
        MEDIA_ACCOUNTS: accounts,
      });
    const [known, other] = await Promise.all([dry('studio-a'), dry('studio-b')]);
    expect([known.code, other.code]).toEqual([65, 0]);
    // Nor where this machine names no accounts at all.
    const { code } = await runJson(
      video('--duration', '3', '--dry-run', '--account', 'studio-b'),
      bench.workerEnv,
    );
    expect(code).toBe(0);
  });

  test('what was started before is returned, also where the models have changed since', async () => {
    const models = file('models.json');
    const id = bench.server.uniqueId('bought');
    const args = [...image('--size', '512x512'), '--id', id, '--out', bench.dir];
    expect((await runJson(args, bench.workerEnv)).code).toBe(0);
    await writeFile(models, JSON.stringify({ version: 1, models: [{ id: 'other', kind: 'image' }] }));
    const env = { ...bench.workerEnv, MEDIA_MODELS: models };
    const before = (await bench.sandbox.admin.counters()).images;
    const again = await runJson(args, env);
    expect([again.code, again.reply.data?.outcome]).toEqual([0, 'completed']);
    const unread = { ...bench.workerEnv, MEDIA_ACCOUNTS: '/no-such-folder/accounts.json' };
    expect((await runJson(args, unread)).code).toBe(0);
    const other = await runJson(
      args.map((one) => (one === 'x' ? 'another prompt' : one)),
      env,
    );
    expect([other.code, other.reply.error?.type]).toEqual([65, 'rejected/invalid_request']);
    expect((await bench.sandbox.admin.counters()).images).toEqual(before);
    // Nobody is asked to agree to what was bought, unless there is a limit.
    expect((await runCli([...args, '--max-spend', '1'], env)).code).toBe(6);
  });
});
