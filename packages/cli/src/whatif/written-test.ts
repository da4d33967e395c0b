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

/** Describes what a TypeScript test needs. */
const TRANSFORMER_WORDS = 'a TypeScript transformer (such as ts-jest or @swc/jest)';

/**
 * Returns what the project lacks to run a saved test, or undefined if nothing is missing. Without a transformer, a
 * `.ts` file is a syntax error for Jest. Checks every package.json from the file's folder upward.
 */
export async function missingTransformer(file: string): Promise<string | undefined> {
  if (extname(file) !== '.ts') return undefined;
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(otherwise(undefined));
    if (text !== undefined && packagesIn(text).some((name) => TRANSFORMERS.includes(name))) return undefined;
    if (folder === dirname(folder)) break;
  }
  return `no package.json above ${file} lists ${TRANSFORMER_WORDS}, which Jest needs for this file. Install one, or pass a file name that ends in .js.`;
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

/** How to start each kind of call, and the sandbox counter for it. */
const CALLS = {
  generateVideo: { start: 'startVideo', counter: 'creates' },
  generateImage: { start: 'images.start', counter: 'images' },
} as const;

/** Input for a written test. */
export interface TestSubject {
  readonly original: Timeline;
  readonly scenario: Scenario;
  /** Never an edit, because edits start with image files, which a test file cannot contain. */
  readonly request: LocalRequest & { readonly workflow: keyof typeof CALLS };
  readonly language: 'ts' | 'js';
}

/**
 * Returns a Jest test that reproduces a scenario with public exports only, and expects the history's outcome. It
 * contains only facts from the history's timeline, without ids, prompts, keys or URLs.
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
    `// Written by \`temporal-media replay --whatif --save-test\` from a history that ended with ${outcomeType(original)}.`,
    language === 'ts'
      ? `// Requires Jest with ${TRANSFORMER_WORDS}.`
      : '// Requires Jest. It is CommonJS, so it does not need a transformer.',
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

/** Whether the input contains string literals whose union types must be kept. */
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

/** Returns the expected outcome. In `failed/moderation`, the detail is an error kind. Other details are reasons. */
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

/** Returns a JSON value as source text with named fields, without undefined fields. */
export function literal(value: unknown): string {
  const whole = { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: 100 };
  return inspect(JSON.parse(JSON.stringify(value)), whole);
}
