'use strict';
// Other clients of the same paths, of versions that need Node 22: installed by npm into a folder of the benchmark, and run
// there by a Node of their own where this one is older. Nothing of this package takes part but the sandbox.
const { execFile } = require('node:child_process');
const { copyFile, writeFile } = require('node:fs/promises');
const path = require('node:path');
const { promisify } = require('node:util');
const { faultRule } = require('./wire-faults.js');

const exec = promisify(execFile);

const VERSIONS = { openai: '7.57.0', ai: '7.0.173', '@llmgateway/ai-sdk-provider': '4.0.0' };
const NODE = '22.23.3';
/** Name of each peer in the tables, and what runs. */
const PEERS = { openai: `openai ${VERSIONS.openai}`, 'ai-sdk': `AI SDK ${VERSIONS.ai}` };

const CHILD = 'peer-client.mjs';

/** A folder with the peers and a Node that runs them; undefined, and said loudly, when they cannot be had. */
async function installPeers({ scope, say }) {
  const folder = await scope.folder();
  const isOld = Number(process.versions.node.split('.')[0]) < 22;
  const own = isOld ? { [`node-${process.platform}-${process.arch}`]: NODE } : {};
  const packages = Object.entries({ ...VERSIONS, ...own }).map(([name, version]) => `${name}@${version}`);
  say(`installing ${packages.join(' ')}`);
  try {
    await writeFile(path.join(folder, 'package.json'), '{"private":true}');
    const options = ['--no-audit', '--no-fund', '--loglevel=error'];
    await exec('npm', ['install', ...options, ...packages], { cwd: folder, timeout: 300_000 });
    await copyFile(path.join(__dirname, 'children', CHILD), path.join(folder, CHILD));
    const [nodePackage] = Object.keys(own);
    const node =
      nodePackage === undefined
        ? process.execPath
        : path.join(folder, 'node_modules', nodePackage, 'bin', 'node');
    await exec(node, ['--version']);
    return { folder, node };
  } catch (error) {
    const why = String(error.stderr || error.message)
      .trim()
      .split('\n')
      .slice(0, 3)
      .join(' ');
    say(`SKIPPED: openai 7 and the AI SDK 7. They, or a Node 22 for them, cannot be had here: ${why}`);
    return undefined;
  }
}

async function runPeer({ folder, node }, { client, url, timeoutMs, giveUpMs, download }) {
  const given = JSON.stringify({ client, url, timeoutMs, giveUpMs, download });
  const { stdout } = await exec(node, [CHILD, given], { cwd: folder, timeout: giveUpMs + 60_000 });
  return JSON.parse(stdout);
}

/** One create of a peer under a fault of its replies. */
async function peerCreates(peers, sandbox, client, fault, { times, ...limits }) {
  const { admin, url } = sandbox;
  await admin.reset();
  await admin.addFaults([faultRule(fault, times)]);
  const end = await runPeer(peers, { client, url, ...limits, download: false });
  await admin.releaseStalled();
  const { creates } = await admin.counters();
  return { fault, sent: creates.received, accepted: creates.accepted, ...end };
}

/** One video of a peer from the create to its bytes, the first of which are spoilt by the fault. */
async function peerFile(peers, sandbox, client, fault, limits) {
  const { admin, url } = sandbox;
  await admin.reset();
  if (fault !== null) await admin.addFaults([{ ...fault, times: 1 }]);
  return runPeer(peers, { client, url, ...limits, download: true });
}

module.exports = { installPeers, PEERS, peerCreates, peerFile };
