'use strict';
// A PgBouncer in transaction mode in front of a PostgreSQL server, for tests. It may give each transaction to another
// server connection, and rejects session features. Uses Debian's package `pgbouncer`. If the package is not installed,
// apt downloads it, and it is unpacked into a temporary folder without being installed. If neither works,
// `findPgbouncer` returns null, and the caller prints what it skips.
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');
const { freePort } = require('./free-port');
const { otherUser } = require('./postgres');

/** Returns the program and its environment, installed or unpacked, or null if this machine cannot get it. */
function findPgbouncer() {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin'];
  const installed = folders.map((folder) => path.join(folder, 'pgbouncer')).find((one) => fs.existsSync(one));
  if (installed !== undefined) return { program: installed, env: process.env };
  return unpacked();
}

/** Downloads and unpacks the program and the one library it needs. `apt-get download` does not need root. */
function unpacked() {
  const dir = path.join(os.tmpdir(), `temporal-media-pgbouncer-${os.userInfo().uid}`);
  const program = path.join(dir, 'usr', 'sbin', 'pgbouncer');
  if (!fs.existsSync(program)) {
    // Renamed when complete, because two test files may do this concurrently.
    const fresh = fs.mkdtempSync(`${dir}.`);
    try {
      const quiet = { cwd: fresh, stdio: 'pipe', timeout: 60_000 };
      execFileSync('apt-get', ['download', 'pgbouncer', 'libc-ares2'], quiet);
      for (const file of fs.readdirSync(fresh)) execFileSync('dpkg', ['-x', file, fresh], quiet);
      fs.chmodSync(fresh, 0o755);
      if (!fs.existsSync(program)) fs.renameSync(fresh, dir);
    } catch {
      if (!fs.existsSync(program)) return null;
    } finally {
      fs.rmSync(fresh, { recursive: true, force: true });
    }
  }
  return { program, env: { ...process.env, LD_LIBRARY_PATH: libraryFolders(dir).join(':') } };
}

/** Returns library folders such as `usr/lib/x86_64-linux-gnu`, which depend on the machine. */
function libraryFolders(dir) {
  const lib = path.join(dir, 'usr', 'lib');
  return fs.readdirSync(lib).map((name) => path.join(lib, name));
}

/**
 * Starts PgBouncer in front of this server. `settings` are additional lines of its configuration.
 * @param {{ postgres: { port: number }, settings?: Record<string, string | number> }} options
 * @returns {Promise<{url: string, port: number, pid(): number, stop(): Promise<void>}>}
 */
async function startPgbouncer({ postgres, settings = {} }) {
  const found = findPgbouncer();
  if (found === null) throw new Error('PgBouncer is not installed. Install the package "pgbouncer".');
  const user = otherUser();
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'temporal-media-pgbouncer-run-'));
  const port = await freePort();
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: path.join(dir, 'users'),
    pool_mode: 'transaction',
    default_pool_size: 5,
    max_client_conn: 500,
    // Retries a lost server soon. The default is 15 seconds.
    server_login_retry: 1,
    ...settings,
  };
  const configuration = [
    '[databases]',
    `* = host=127.0.0.1 port=${postgres.port} user=media`,
    '[pgbouncer]',
    ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`),
  ];
  fs.writeFileSync(path.join(dir, 'users'), '"media" ""\n');
  fs.writeFileSync(path.join(dir, 'pgbouncer.ini'), `${configuration.join('\n')}\n`);
  if (user.uid !== undefined)
    for (const file of [dir, ...fs.readdirSync(dir).map((name) => path.join(dir, name))])
      fs.chownSync(file, user.uid, user.gid);
  const log = fs.openSync(path.join(dir, 'log'), 'a');
  const child = spawn(found.program, [path.join(dir, 'pgbouncer.ini')], {
    ...user,
    cwd: dir,
    env: found.env,
    stdio: ['ignore', log, log],
  });
  fs.closeSync(log);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  for (let tries = 0; !(await accepts(port)); tries += 1) {
    if (tries >= 200 || child.exitCode !== null)
      throw new Error(
        `PgBouncer did not start: ${fs.readFileSync(path.join(dir, 'log'), 'utf8').slice(-2_000)}`,
      );
    await delay(50);
  }
  return {
    url: `postgres://media@127.0.0.1:${port}/postgres`,
    port,
    pid: () => child.pid,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
      fs.rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function accepts(port) {
  const socket = net.connect(port, '127.0.0.1');
  const answer = await new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  socket.destroy();
  return answer;
}

module.exports = { findPgbouncer, startPgbouncer };
