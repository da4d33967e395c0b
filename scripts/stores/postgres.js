'use strict';
// A separate PostgreSQL server for tests, benchmarks and proofs: a new cluster in a temporary folder, on a free port of
// the loopback interface, stopped and removed afterwards. Needs the programs of a PostgreSQL installation (Debian's
// package `postgresql`). Without them, `findPostgres` returns null, and the caller prints what it skips.
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');
const { freePort } = require('./free-port');

/** Returns the folder with `initdb` and `postgres`, newest version first, or null if this machine has none. */
function findPostgres() {
  const debian = '/usr/lib/postgresql';
  const versions = fs.existsSync(debian) ? fs.readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => path.join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(path.delimiter),
  ];
  const has = (folder) => ['initdb', 'postgres'].every((name) => fs.existsSync(path.join(folder, name)));
  return folders.find((folder) => folder !== '' && has(folder)) ?? null;
}

/** PostgreSQL refuses to run as root, so root runs it as the package's user or as nobody. */
function otherUser() {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // Try the next user.
    }
  }
  throw new Error('PostgreSQL does not run as root, and the users "postgres" and "nobody" do not exist.');
}

/**
 * Starts a new cluster. `settings` are additional lines of its configuration (`max_connections`, `fsync`).
 * @returns {Promise<{url: string, port: number, dir: string, pid(): number, kill(): Promise<void>, start():
 *   Promise<void>, stop(): Promise<void>}>} `kill` sends SIGKILL to the whole server, `start` restarts it on the same
 *   port, and `stop` stops it and removes the folder.
 */
async function startPostgres({ settings = {} } = {}) {
  const bin = findPostgres();
  if (bin === null)
    throw new Error('PostgreSQL is not installed. Install the package "postgresql" (initdb, postgres).');
  const user = otherUser();
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'temporal-media-postgres-'));
  if (user.uid !== undefined) fs.chownSync(dir, user.uid, user.gid);
  const data = path.join(dir, 'data');
  const initdb = ['-D', data, '-U', 'media', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
  execFileSync(path.join(bin, 'initdb'), initdb, { ...user, cwd: dir, stdio: 'pipe' });
  const port = await freePort();
  const lines = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', ...settings };
  fs.appendFileSync(
    path.join(data, 'postgresql.conf'),
    Object.entries(lines)
      .map(([name, value]) => `${name} = '${value}'\n`)
      .join(''),
  );
  let child;
  let ended;

  async function start() {
    const log = fs.openSync(path.join(dir, 'log'), 'a');
    child = spawn(path.join(bin, 'postgres'), ['-D', data], {
      ...user,
      cwd: dir,
      stdio: ['ignore', log, log],
    });
    fs.closeSync(log);
    ended = new Promise((resolve) => child.once('exit', resolve));
    for (let tries = 0; ; tries += 1) {
      if (await accepts(bin, port)) return;
      if (tries >= 600 || child.exitCode !== null)
        throw new Error(
          `PostgreSQL did not start: ${fs.readFileSync(path.join(dir, 'log'), 'utf8').slice(-2_000)}`,
        );
      await delay(50);
    }
  }

  /** Kills the postmaster and its children, which would otherwise briefly outlive it. */
  async function kill() {
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(child.pid)], { encoding: 'utf8' });
    for (const pid of [child.pid, ...children.split(/\s+/).filter(Boolean).map(Number)]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has already ended.
      }
    }
    await ended;
  }

  await start();
  return {
    url: `postgres://media@127.0.0.1:${port}/postgres`,
    port,
    dir,
    pid: () => child.pid,
    kill,
    start,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
      await ended;
      fs.rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function accepts(bin, port) {
  const ready = spawn(path.join(bin, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)], {
    stdio: 'ignore',
  });
  return (await new Promise((resolve) => ready.once('exit', resolve))) === 0;
}

module.exports = { findPostgres, otherUser, startPostgres };
