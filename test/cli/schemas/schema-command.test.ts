import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { SCHEMA_NAMES } from '../../../packages/cli/src/schema/command';
import { sandboxModels } from '../../../packages/sandbox/src/models';
import { readModelConfiguration } from '../../../src/settings/model-schema';
import { type CliBench, openCliBench } from '../support/cli-bench';
import { type CliReply, runCli, runJson } from '../support/run-cli';
import { expectDocumented, expectValid, problemsOf } from './documented';

describe('temporal-media schema', () => {
  test('lists the names; each is a JSON Schema of draft 2020-12', async () => {
    const { reply: listed } = await runJson(['schema']);
    const names = (listed.data?.['schemas'] as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(Object.keys(SCHEMA_NAMES));
    const printed = await Promise.all(names.map(async (name) => runCli(['schema', name])));
    for (const { code, stdout } of printed) {
      expect(code).toBe(0);
      const schema = JSON.parse(stdout) as object;
      expect(() => problemsOf(schema, null)).not.toThrow();
      expect(schema).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: expect.stringMatching(/^temporal-media /) as string,
        description: expect.any(String) as string,
      });
    }
    const json = await runJson(['schema', 'models']);
    expect(json.reply.data).toMatchObject({
      name: 'models',
      schema: JSON.parse(printed[0]?.stdout ?? '') as object,
    });
  });

  test('an unknown name: bad_input with the near ones', async () => {
    const { code, reply: refused } = await runJson(['schema', 'videooutcome']);
    expect([code, refused.error?.type, refused.error?.hint]).toEqual([
      65,
      'bad_input',
      'Did you mean: video-outcome?',
    ]);
  });

  test('what a document may hold is what the reader takes: a misspelt key is refused by both', async () => {
    const { stdout } = await runCli(['schema', 'models']);
    const schema = JSON.parse(stdout) as {
      properties: { models: { items: { oneOf: { additionalProperties: boolean; properties: object }[] } } };
    };
    for (const kind of schema.properties.models.items.oneOf) expect(kind.additionalProperties).toBe(false);
    const models = [{ id: 'a', kind: 'video', duration: [2] }];
    expect(readModelConfiguration({ version: 1, models }).ok).toBe(false);
    expect(problemsOf(schema, { version: 1, models })).not.toEqual([]);
    expectValid(
      schema,
      JSON.parse(JSON.stringify({ ...sandboxModels, models: sandboxModels.models.slice(0, 3) })),
    );
  });
});

describe('what the binary really says is what the schemas describe', () => {
  let bench: CliBench;
  let out: string;
  const video = (prompt: string, ...more: string[]) => [
    ...['video', '--model', 'sketch-lite', '--prompt', prompt, '--out', out],
    ...more,
  ];
  /** The outcome in the data of a paid command. */
  const outcomeOf = ({ data }: CliReply): object => {
    const { workflowId, files, sidecarFile, ...outcome } = data ?? {};
    expect([typeof workflowId, Array.isArray(files), typeof sidecarFile]).toEqual([
      'string',
      true,
      expect.stringMatching(/string|object|undefined/) as string,
    ]);
    return outcome;
  };

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 200 } });
    out = path.join(bench.dir, 'out');
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('outcomes of videos, and the file beside one', async () => {
    const runs = await Promise.all(
      [
        video('a boat'),
        video('x [fail:moderation]'),
        video('x [lost-reply]'),
        video('x', '--duration', '99'),
        video('x [content:json]', '--wait-for', '20s'),
      ].map((args) => runJson(args, bench.clientEnv)),
    );
    // By itself: on a machine that is busy with the others the command leaves before its workflow has answered.
    runs.push(await runJson(video('x [run:60s]', '--wait-for', '1s'), bench.clientEnv));
    const outcomes = runs.map(({ reply: { data } }) => data?.['outcome']);
    expect(outcomes.slice(0, 4)).toEqual(['completed', 'failed', 'unconfirmed', 'rejected']);
    expect(outcomes.at(-1)).toBe('still_running');
    for (const run of runs) {
      expectDocumented('reply', run.reply);
      expectDocumented('video-outcome', outcomeOf(run.reply));
    }
    const sidecar = await readFile(runs[0]?.reply.data?.['sidecarFile'] as string, 'utf8');
    expectDocumented('sidecar', JSON.parse(sidecar));
  });

  test('outcomes of images, and the file beside them', async () => {
    const image = ['image', '--model', 'image-2', '--out', out, '--prompt'];
    const runs = await Promise.all(
      [
        [...image, 'a map', '--n', '2'],
        [...image, 'x [lost-reply]'],
        [...image, 'x', '--n', '9'],
      ].map((args) => runJson(args, bench.clientEnv)),
    );
    for (const run of runs) expectDocumented('image-outcome', outcomeOf(run.reply));
    const sidecar = await readFile(runs[0]?.reply.data?.['sidecarFile'] as string, 'utf8');
    expectDocumented('image-sidecar', JSON.parse(sidecar));
  });

  test('lines of -o jsonl: a start, states, the answer', async () => {
    const lines = async (args: readonly string[]) => {
      const { stdout } = await runCli([...args, '-o', 'jsonl'], bench.clientEnv);
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string });
    };
    const [made, refused, checked] = await Promise.all([
      lines(video('a kite [run:4s]')),
      lines(['video', '--model', '', '--prompt', '']),
      lines(['doctor']),
    ]);
    for (const line of [...made, ...refused, ...checked]) expectDocumented('event', line);
    expect(new Set([...made, ...refused, ...checked].map(({ type }) => type))).toEqual(
      new Set(['started', 'state', 'check', 'result']),
    );
  });
});
