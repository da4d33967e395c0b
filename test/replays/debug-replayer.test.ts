import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { historyToProtobuf } from '../../packages/replay/src/history-codec';
import { readHistoryFile } from '../../packages/replay/src/read-history';

const ROOT = path.resolve(__dirname, '..', '..');
const GOLDEN = path.join(ROOT, 'test', 'golden', 'generateVideo.completed.v1.json');

/** The entry file of docs/replay-in-ci.md, without workflows of a user. */
const ENTRY = `
  const { startDebugReplayer } = require('@temporalio/worker');
  const { MediaPlugin } = require('${path.join(ROOT, 'lib', 'plugin.js')}');
  const workflowsPath = '${path.join(ROOT, 'lib', 'workflows', 'index.js')}';
  startDebugReplayer({ workflowsPath, plugins: [new MediaPlugin()] });
`;

it("Temporal's debugger for VS Code replays a history of this package with the plugin", async () => {
  const history = historyToProtobuf((await readHistoryFile(GOLDEN)).history);
  const started: number[] = [];
  // What the extension of the editor answers.
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/history') === true) return void response.end(history);
    request.on('data', (bytes: Buffer) =>
      started.push((JSON.parse(bytes.toString()) as { readonly eventId: number }).eventId),
    );
    request.on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const env = { ...process.env, TEMPORAL_DEBUGGER_PLUGIN_URL: `http://127.0.0.1:${port}` };
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, ['-e', ENTRY], { cwd: ROOT, env }, (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
    expect(output).toContain('Replay completed successfully');
    // The starts of the workflow tasks, in order.
    expect(new Set(started)).toEqual(new Set([3, 10, 16, 22, 28]));
  } finally {
    server.close();
  }
});
