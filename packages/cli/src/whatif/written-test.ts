import { readFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { inspect } from 'node:util';
import { type Timeline } from '@temporal-media/replay';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { type LocalRequest } from './local-request';
import { type Scenario } from './scenario';
import { outcomeType } from './scenario-part';

/** Packages that let jest run TypeScript. */
const TRANSFORMERS: readonly string[] = [
  'ts-jest',
  '@swc/jest',
  '@babel/preset-typescript',
  'esbuild-jest',
  '@sucrase/jest-plugin',
];

/** What a TypeScript test needs, in words. */
const TRANSFORMER_WORDS = 'a transformer of TypeScript (ts-jest, @swc/jest or another one)';

/**
 * What the project lacks to run a saved test: without a transformer, a `.ts` file is a syntax error for jest. Undefined
 * if nothing is missing. The project is every package.json from the file's folder upwards.
 */
export async function missingTransformer(file: string): Promise<string | undefined> {
  if (extname(file) !== '.ts') return undefined;
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(otherwise(undefined));
    if (text !== undefined && packagesIn(text).some((name) => TRANSFORMERS.includes(name))) return undefined;
    if (folder === dirname(folder)) break;
  }
  return `no package.json above ${file} names ${TRANSFORMER_WORDS}, which jest needs for it: install one, or name a file that ends in .js.`;
}

function packagesIn(text: string): readonly string[] {
  try {
    const { dependencies, devDependencies } = JSON.parse(text) as { readonly [field: string]: object };
    return [...Object.keys(dependencies ?? {}), ...Object.keys(devDependencies ?? {})];
  } catch (error) {
    throwBug(error);
    return [];
  }
}

/** How one kind of call is started, and under which name the sandbox counts it. */
const CALLS = {
  generateVideo: { start: 'startVideo', counter: 'creates' },
  generateImage: { start: 'startImage', counter: 'images' },
} as const;

/** Input for a written test. */
export interface TestSubject {
  readonly original: Timeline;
  readonly scenario: Scenario;
  /** Not for edits: they begin with pictures, which a test file cannot contain. */
  readonly request: LocalRequest & { readonly workflow: keyof typeof CALLS };
  readonly language: 'ts' | 'js';
}

/**
 * A test for jest, using only public exports, that plays a scenario and expects the history's outcome. It contains only
 * what the history's timeline shows: no id, prompt, key or address.
 */
export function testOf(subject: TestSubject): string {
  const { language } = subject;
  const blocks = [
    [...headOf(subject), ...imports(subject)],
    [
      '// The SDK logs every step of a worker at INFO.',
      `Runtime.install({ logger: new DefaultLogger('WARN') });`,
    ],
    [`const service${language === 'ts' ? ': SandboxOptions' : ''} = ${literal(serviceOf(subject))};`],
    [
      `const input = ${literal(inputOf(subject))}${language === 'ts' && hasWords(subject) ? ' as const' : ''};`,
    ],
    body(subject),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function headOf({ original, scenario, request, language }: TestSubject): string[] {
  const left = [...scenario.notPlayed, ...request.notPlayed];
  return [
    `// Written by \`temporal-media replay --whatif --save-test\` from a history that ended as ${outcomeType(original)}.`,
    language === 'ts'
      ? `// Needs jest with ${TRANSFORMER_WORDS}.`
      : '// Needs jest, and no transformer: it is CommonJS.',
    ...left.map((what) => `// Not played: ${what}.`),
  ];
}

function imports({ language }: TestSubject): string[] {
  const typescript = language === 'ts';
  const from = (names: string, module: string): string =>
    typescript ? `import { ${names} } from '${module}';` : `const { ${names} } = require('${module}');`;
  return [
    from('mkdtemp, rm', 'node:fs/promises'),
    from('tmpdir', 'node:os'),
    from('join', 'node:path'),
    from('Client', '@temporalio/client'),
    from('DefaultLogger, NativeConnection, Runtime', '@temporalio/worker'),
    from('TemporalMediaClient', 'temporal-media/client'),
    from(`${typescript ? 'type SandboxOptions, ' : ''}startSandboxProcess`, '@temporal-media/sandbox'),
    from('startTemporalServer', '@temporal-media/testing'),
    from(`createMediaWorker, readConfig`, 'temporal-media/worker'),
  ];
}

const serviceOf = ({ scenario: { timing, records, faults } }: TestSubject): object => ({
  timing,
  records,
  faults,
});

/** Keeps literals of a union as literals. */
const hasWords = ({ scenario, request }: TestSubject): boolean =>
  request.workflow === 'generateVideo' || Object.keys(scenario.policy).length > 0;

function inputOf({ scenario, request }: TestSubject): object {
  const policy = Object.keys(scenario.policy).length > 0 ? scenario.policy : undefined;
  if (request.workflow === 'generateImage') return { request: request.request, policy };
  return {
    request: request.request,
    waitFor: scenario.waitForMs ?? undefined,
    onUnconfirmed: scenario.decisions.length > 0 ? 'wait' : undefined,
    policy,
  };
}

/** The expected outcome. In `failed/moderation` the detail is an error kind; every other detail is a reason. */
function expected(original: Timeline): object {
  const [outcome = '', detail] = (outcomeType(original) ?? '').split('/');
  if (detail === undefined) return { outcome };
  return outcome === 'failed' ? { outcome, error: { kind: detail } } : { outcome, reason: detail };
}

function body({ original, scenario, request }: TestSubject): string[] {
  const { start, counter } = CALLS[request.workflow];
  const isWhole = scenario.notPlayed.length === 0;
  return [
    `test('the outcome is ${outcomeType(original)}', async () => {`,
    `  const [server, sandbox] = await Promise.all([startTemporalServer(), startSandboxProcess(service)]);`,
    `  const dir = await mkdtemp(join(tmpdir(), 'whatif-'));`,
    `  const connection = await NativeConnection.connect({ ...server.connection, address: server.address });`,
    `  try {`,
    `    const { namespace } = server;`,
    `    const id = \`whatif-\${Math.random()}\`;`,
    `    const config = readConfig({`,
    `      MEDIA_BASE_URL: sandbox.url,`,
    `      MEDIA_API_KEY: 'sandbox-key',`,
    `      MEDIA_MODELS: sandbox.modelsUrl,`,
    `      MEDIA_ALLOWED_MEDIA_ORIGINS: new URL(sandbox.mediaUrl).origin,`,
    `      MEDIA_DATA_DIR: dir,`,
    `      MEDIA_TASK_QUEUE: id,`,
    `    });`,
    `    const worker = await createMediaWorker({ config, connection, namespace });`,
    `    const running = worker.run();`,
    `    try {`,
    `      const client = new Client({ connection, namespace });`,
    `      const media = new TemporalMediaClient(client, { taskQueue: id });`,
    `      const started = await media.${start}(input, { id });`,
    ...scenario.decisions.flatMap(decisionLines),
    `      expect(await started.result()).toMatchObject(${literal(expected(original))});`,
    ...(isWhole
      ? [`      expect((await sandbox.admin.counters()).${counter}.received).toBe(${original.sends});`]
      : []),
    `    } finally {`,
    `      worker.shutdown();`,
    `      await running;`,
    `    }`,
    `  } finally {`,
    `    await connection.close();`,
    `    await Promise.all([sandbox.close(), server.stop()]);`,
    `    await rm(dir, { recursive: true, force: true });`,
    `  }`,
    `}, 600_000);`,
  ];
}

function decisionLines(decision: string): string[] {
  return [
    `      while ((await media.videoState(id)).phase !== 'unconfirmed')`,
    `        await new Promise((resolve) => setTimeout(resolve, 250));`,
    `      await client.workflow.getHandle(id).executeUpdate('${decision}', {`,
    `        args: [`,
    `          {`,
    `            sendId: (await media.videoState(id)).evidence?.sendId,`,
    ...(decision === 'adopt' ? [`            taskId: (await sandbox.admin.tasks())[0]?.id,`] : []),
    `            by: 'whatif',`,
    `            reason: 'as in the history',`,
    `          },`,
    `        ],`,
    `      });`,
  ];
}

/** A JSON value as source text with named fields. Undefined fields are left out. */
export function literal(value: unknown): string {
  const whole = { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: 100 };
  return inspect(JSON.parse(JSON.stringify(value)), whole);
}
