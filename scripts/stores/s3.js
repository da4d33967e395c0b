'use strict';
// A separate S3 server for tests, benchmarks and proofs: Versity's gateway over a new temporary folder, on a free port
// of the loopback interface, stopped and removed afterwards. The program is found on PATH, where `go install` puts
// programs, or in this package's cache. Otherwise it is built into the cache once, which takes a minute and needs Go.
const { execFileSync, spawn, spawnSync } = require('node:child_process');
const { randomBytes } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');
const { freePort } = require('./free-port');

const VERSION = 'v1.8.0';
const PACKAGE = `github.com/versity/versitygw/cmd/versitygw@${VERSION}`;
const PROGRAM = process.platform === 'win32' ? 'versitygw.exe' : 'versitygw';
const BUILD_MS = 10 * 60_000;

function cacheFolder() {
  const xdg = process.env.XDG_CACHE_HOME;
  const base = xdg && path.isAbsolute(xdg) ? xdg : path.join(os.homedir(), '.cache');
  return path.join(base, 'temporal-media', 'versitygw', VERSION);
}

function isProgram(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Returns the folders where `go install` puts programs; empty without Go. */
function goFolders() {
  const asked = spawnSync('go', ['env', '-json', 'GOBIN', 'GOPATH'], { encoding: 'utf8' });
  if (asked.status !== 0) return [];
  const { GOBIN, GOPATH } = JSON.parse(asked.stdout);
  const all = [GOBIN, ...GOPATH.split(path.delimiter).map((one) => path.join(one, 'bin'))];
  return all.filter(path.isAbsolute);
}

/**
 * Returns the program, built if necessary.
 * @returns {{path: string} | {path: null, reason: string}} a reason for people if it is not available
 */
function findS3({ build = true, say = () => {} } = {}) {
  const cache = cacheFolder();
  const onPath = (process.env.PATH ?? '').split(path.delimiter).filter(path.isAbsolute);
  const found = [...onPath, ...goFolders(), cache].map((dir) => path.join(dir, PROGRAM)).find(isProgram);
  if (found !== undefined) return { path: found };
  const remedy = `install Go and run \`go install ${PACKAGE}\``;
  if (!build) return { path: null, reason: `no S3 server is installed: ${remedy}` };
  if (spawnSync('go', ['version']).status !== 0)
    return {
      path: null,
      reason: `no S3 server is installed, and Go is not available to build one: ${remedy}`,
    };
  try {
    return { path: buildInto(cache, say) };
  } catch (error) {
    return { path: null, reason: `the S3 server could not be built (${error.message}): ${remedy}` };
  }
}

/**
 * Builds the program in one process while others wait. The build folder is the lock, and the complete program is moved
 * into the cache.
 */
function buildInto(cache, say) {
  fs.mkdirSync(cache, { recursive: true });
  const target = path.join(cache, PROGRAM);
  const lock = path.join(cache, 'build');
  const until = Date.now() + BUILD_MS;
  while (!claim(lock)) {
    if (isProgram(target)) return target;
    if (Date.now() > until) throw new Error('another process has been building it for ten minutes');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  }
  try {
    if (isProgram(target)) return target;
    say(`Building an S3 server once with \`go install ${PACKAGE}\` (about a minute) …`);
    const env = { ...process.env, GOBIN: lock, CGO_ENABLED: '0' };
    execFileSync('go', ['install', '-ldflags', '-s -w', PACKAGE], { env, stdio: 'pipe', timeout: BUILD_MS });
    fs.renameSync(path.join(lock, PROGRAM), target);
    return target;
  } catch (error) {
    const last = String(error.stderr ?? '')
      .trim()
      .split('\n')
      .at(-1);
    throw new Error(last || error.code || 'unknown reason', { cause: error });
  } finally {
    fs.rmSync(lock, { recursive: true, force: true });
  }
}

/** Claims the build folder. A folder that is older than any build was left behind by a killed process. */
function claim(lock) {
  try {
    fs.mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const made = fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  if (Date.now() - made > BUILD_MS) fs.rmSync(lock, { recursive: true, force: true });
  return false;
}

/**
 * Starts a new, empty server. `env` are the variables with which the AWS SDK connects to it. `dir` contains a folder
 * for each bucket in `buckets`, with a file for each object. With `accessLog`, each request is a line in the file at
 * that path.
 * @returns {Promise<{endpoint: string, port: number, accessKey: string, secretKey: string, env: Record<string, string>,
 *   dir: string, accessLog: string, createBucket(name: string): Promise<void>, pid(): number, kill(): Promise<void>,
 *   start(): Promise<void>, stop(): Promise<void>}>} `kill` sends SIGKILL, `start` restarts it on the same port, and
 *   `stop` stops it and removes the folder.
 */
async function startS3({ say, accessLog = false } = {}) {
  const program = findS3({ say });
  if (program.path === null) throw new Error(program.reason);
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'temporal-media-s3-'));
  for (const name of ['buckets', 'metadata']) fs.mkdirSync(path.join(dir, name));
  const requests = path.join(dir, 'requests');
  const port = await freePort();
  const accessKey = randomBytes(10).toString('hex');
  const secretKey = randomBytes(20).toString('hex');
  const endpoint = `http://127.0.0.1:${port}`;
  const env = {
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: secretKey,
  };
  /** If the file system has no extended attributes, the server stores its metadata in separate files. */
  let metadata = [];
  let child;
  let ended;

  async function launch() {
    const log = fs.openSync(path.join(dir, 'log'), 'a');
    const options = [
      '--port',
      `127.0.0.1:${port}`,
      '--quiet',
      ...(accessLog ? ['--access-log', requests] : []),
      'posix',
      ...metadata,
      path.join(dir, 'buckets'),
    ];
    child = spawn(program.path, options, {
      env: { PATH: process.env.PATH, ROOT_ACCESS_KEY: accessKey, ROOT_SECRET_KEY: secretKey },
      cwd: dir,
      stdio: ['ignore', log, log],
    });
    fs.closeSync(log);
    ended = new Promise((resolve) => child.once('exit', resolve));
    for (let tries = 0; child.exitCode === null; tries += 1) {
      if (await answers(endpoint)) return true;
      if (tries >= 600) break;
      await delay(25);
    }
    return false;
  }

  const said = () => fs.readFileSync(path.join(dir, 'log'), 'utf8').slice(-2_000);

  async function start() {
    if (await launch()) return;
    if (metadata.length === 0 && /xattr|extended attributes/i.test(said())) {
      metadata = ['--sidecar', path.join(dir, 'metadata')];
      if (await launch()) return;
    }
    throw new Error(`The S3 server did not start: ${said()}`);
  }

  async function kill(signal = 'SIGKILL') {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  }

  await start();
  return {
    endpoint,
    port,
    accessKey,
    secretKey,
    env,
    dir,
    accessLog: requests,
    createBucket: async (name) => {
      const { CreateBucketCommand, S3Client } = require('@aws-sdk/client-s3');
      const client = new S3Client({
        endpoint,
        region: env.AWS_REGION,
        forcePathStyle: true,
        credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
      });
      await client.send(new CreateBucketCommand({ Bucket: name }));
      client.destroy();
    },
    pid: () => child.pid,
    kill: () => kill(),
    start,
    stop: async () => {
      await kill('SIGTERM');
      fs.rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Whether the server answers. It refuses a request without a signature, which counts as an answer. */
async function answers(endpoint) {
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(2_000) }).then((reply) => reply.arrayBuffer());
    return true;
  } catch {
    return false;
  }
}

module.exports = { findS3, startS3 };
