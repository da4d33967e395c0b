import { nodeBinary } from '../../scripts/from-npm';
import { SEARCH_ATTRIBUTES } from '../../src/domain/names';
import { freePort } from '../../src/stores/files/this-machine';
import { eventually } from '../support/eventually';
import { startMediaStack, type MediaStack } from '../support/media-stack';
import { readScrape } from '../support/prometheus';
import { ownNamespace } from '../support/temporal';
import { COMMAND_LINE, type PackedProject, packedProject } from './support/packed-project';

const TRACING = [
  ...['api', 'resources', 'sdk-trace-base', 'sdk-trace-node'].map((name) => `@opentelemetry/${name}`),
  '@temporalio/interceptors-opentelemetry',
];

const WORKFLOWS = `
const media = require('temporal-media/workflows');
const { workflowInfo } = require('@temporalio/workflow');

module.exports = { ...media };
module.exports.premiere = async (prompt) => {
  const { taskQueue } = workflowInfo();
  return media.executeVideo({ request: { model: 'cine-1', prompt, durationSeconds: 2 } }, { taskQueue });
};`;

/** A worker of the command line with probes and metrics, one video, and what the estate sees of it. */
const WORKER = `
const { execFile, spawn } = require('node:child_process');
const { once } = require('node:events');
const { createInterface } = require('node:readline');
const { promisify } = require('node:util');

const cli = require.resolve('@temporal-media/cli/package.json').replace('package.json', 'bin/temporal-media.js');
const { MEDIA_HEALTH_ADDRESS, MEDIA_METRICS_ADDRESS } = process.env;
const get = async (url) => { const reply = await fetch(url); return { status: reply.status, text: await reply.text() }; };

async function main() {
  const worker = spawn(process.execPath, [cli, 'worker'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(worker, 'close');
  const lines = createInterface({ input: worker.stderr });
  await new Promise((resolve, reject) => {
    lines.on('line', (line) => line.startsWith('Ready: task queue') && resolve());
    lines.once('close', () => reject(new Error('The worker ended.')));
  });
  const args = ['video', '--model', 'cine-1', '--prompt', 'a kite of ' + process.version, '--duration', '2', '--json'];
  const video = JSON.parse((await promisify(execFile)(process.execPath, [cli, ...args])).stdout);
  const probes = [await get('http://' + MEDIA_HEALTH_ADDRESS + '/livez'), await get('http://' + MEDIA_HEALTH_ADDRESS + '/readyz')];
  const scrape = await get('http://' + MEDIA_METRICS_ADDRESS + '/metrics');
  worker.kill('SIGTERM');
  const [exitCode] = await ended;
  console.log(JSON.stringify({ node: process.versions.node, video, probes: probes.map(({ status }) => status), scrape: scrape.text, exitCode }));
}
main();`;

/** A worker in code with tracing, and the spans of one video. */
const TRACED = `
const { join } = require('node:path');
const { trace } = require('@opentelemetry/api');
const { Resource } = require('@opentelemetry/resources');
const { InMemorySpanExporter, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base');
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');
const { Client, Connection } = require('@temporalio/client');
const { OpenTelemetryPlugin } = require('@temporalio/interceptors-opentelemetry');
const { DefaultLogger, Runtime } = require('@temporalio/worker');
const { createMediaWorker } = require('temporal-media/worker');

async function main() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, MEDIA_TASK_QUEUE: taskQueue } = process.env;
  const exporter = new InMemorySpanExporter();
  const resource = new Resource({ 'service.name': 'scratch' });
  const spanProcessor = new SimpleSpanProcessor(exporter);
  const provider = new NodeTracerProvider({ resource, spanProcessors: [spanProcessor] });
  provider.register();
  const tracing = new OpenTelemetryPlugin({ resource, spanProcessor });
  const workflows = { workflowsPath: join(__dirname, 'workflows.cjs') };
  const media = await createMediaWorker({ workflows, worker: { plugins: [tracing] } });
  const running = media.run();
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace, plugins: [tracing] });
  const film = await trace.getTracer('caller').startActiveSpan('order', async (span) => {
    const result = await client.workflow.execute('premiere', { taskQueue, workflowId: taskQueue, args: ['a traced kite of ' + process.version] });
    span.end();
    return result;
  });
  media.shutdown();
  await running;
  await connection.close();
  const spans = exporter.getFinishedSpans();
  console.log(JSON.stringify({
    node: process.versions.node,
    outcome: film.outcome,
    traces: new Set(spans.map((span) => span.spanContext().traceId)).size,
    names: [...new Set(spans.map((span) => span.name))],
  }));
}
main();`;

/** What an operations team needs of the packed package, in a scratch project on the oldest Node that it takes and on later ones. */
describe('a scratch project that has the packed package only', () => {
  let project: PackedProject;
  let stack: MediaStack;

  beforeAll(async () => {
    [project, stack] = await Promise.all([
      packedProject({ companions: COMMAND_LINE, extra: TRACING }),
      ownNamespace().then((temporal) =>
        startMediaStack({ temporal, sandbox: { timing: { queuedMs: 0, runningMs: 300 } } }),
      ),
    ]);
    await project.write('workflows.cjs', WORKFLOWS);
    await project.write('worker.cjs', WORKER);
    await project.write('traced.cjs', TRACED);
    await eventually('search attributes', async () => {
      const { operatorService } = stack.server.client.connection;
      await project.nodeWith(
        stack.env,
        `${project.dir}/node_modules/@temporal-media/cli/bin/temporal-media.js`,
        'setup',
      );
      const { customAttributes } = await operatorService.listSearchAttributes({
        namespace: stack.server.namespace,
      });
      return SEARCH_ATTRIBUTES.every((name) => customAttributes?.[name] !== undefined);
    });
  });
  afterAll(async () => {
    await stack.stop();
    await project.remove();
  });

  /** Runs a script of the project on this Node, and returns the JSON of its last line. */
  async function run(
    version: string,
    file: string,
    more: NodeJS.ProcessEnv = {},
  ): Promise<Record<string, unknown>> {
    const MEDIA_TASK_QUEUE = stack.server.uniqueId(`node-${version}`);
    const folder = `${stack.dataDir}/${MEDIA_TASK_QUEUE}`;
    const own = { MEDIA_TASK_QUEUE, MEDIA_DATA_DIR: folder, MEDIA_JOURNAL: `${folder}/journal` };
    const output = await project.program(nodeBinary(version), { ...stack.env, ...own, ...more }, file);
    expect([output.exitCode, output.stderr]).toEqual([0, expect.not.stringContaining('Error')]);
    return JSON.parse(output.stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
  }

  const VERSIONS = ['20.18.1', '22', '24', '26'];

  it.each(VERSIONS)('Node %s: probes, a scrape, and a search by attribute', async (version) => {
    const [health, metrics] = [await freePort(), await freePort()];
    const seen = await run(version, 'worker.cjs', {
      MEDIA_SEARCH_ATTRIBUTES: '1',
      MEDIA_HEALTH_ADDRESS: `127.0.0.1:${health}`,
      MEDIA_METRICS_ADDRESS: `127.0.0.1:${metrics}`,
    });
    expect(seen).toMatchObject({
      node: expect.stringMatching(new RegExp(`^${version}\\b`)) as string,
      probes: [200, 200],
      exitCode: 0,
      video: { ok: true, data: { outcome: 'completed', video: { taskId: expect.any(String) as string } } },
    });
    const creates = readScrape(seen['scrape'] as string).filter(({ name }) =>
      /^temporal_media_.*calls?/.test(name),
    );
    expect(creates).toContainEqual(expect.objectContaining({ value: 1 }));
    const { taskId } = (seen as unknown as { video: { data: { video: { taskId: string } } } }).video.data
      .video;
    const query = `MediaTaskId = '${taskId}' AND MediaOutcome = 'completed'`;
    await eventually('the video by its task', async () => {
      const found: string[] = [];
      for await (const { type } of stack.server.client.workflow.list({ query })) found.push(type);
      return found.length === 1 && found[0] === 'generateVideo';
    });
  });

  it.each(VERSIONS)('Node %s: one trace from the caller to the requests', async (version) => {
    expect(await run(version, 'traced.cjs')).toEqual({
      node: expect.stringMatching(new RegExp(`^${version}\\b`)) as string,
      outcome: 'completed',
      traces: 1,
      names: expect.arrayContaining([
        'order',
        'RunWorkflow:premiere',
        'media.create',
        'media.poll',
        'media.download',
      ]) as string[],
    });
  });
});
