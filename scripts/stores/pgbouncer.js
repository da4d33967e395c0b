'use strict';
// A PgBouncer in transaction mode before a PostgreSQL server, for tests: it gives every transaction to another server
// connection, and refuses what belongs to a session. Wants Debian's package `pgbouncer`; where that is not installed, it
// is downloaded by apt and unpacked into a temporary folder, without being installed. Without either `findPgbouncer`
// returns null, and the caller says what it skips.
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');
const { freePort } = require('./free-port');
const { otherUser } = require('./postgres');

/** The program and its environment: installed, else unpacked; null when this machine can get none. */
function findPgbouncer() {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin'];
  const installed = folders.map((folder) => path.join(folder, 'pgbouncer')).find((one) => fs.existsSync(one));
  if (installed !== undefined) return { program: installed, env: process.env };
  return unpacked();
}

/** `apt-get download` needs no rights; the program wants one library beside it. */
function unpacked() {
  const dir = path.join(os.tmpdir(), `temporal-media-pgbouncer-${os.userInfo().uid}`);
  const program = path.join(dir, 'usr', 'sbin', 'pgbouncer');
  if (!fs.existsSync(program)) {
    // Renamed when it is whole: two test files may do this at once.
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

/** `usr/lib/x86_64-linux-gnu`, by the machine. */
function libraryFolders(dir) {
  const lib = path.join(dir, 'usr', 'lib');
  return fs.readdirSync(lib).map((name) => path.join(lib, name));
}

/**
 * Starts PgBouncer before this server. `settings` are further lines of its configuration.
 * @param {{ postgres: { port: number }, settings?: Record<string, string | number> }} options
 * @returns {Promise<{url: string, port: number, pid(): number, stop(): Promise<void>}>}
 */
async function startPgbouncer({ postgres, settings = {} }) {
  const found = findPgbouncer();
  if (found === null) throw new Error('No PgBouncer here: install the package "pgbouncer".');
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
    // Asks a server that is gone again soon; the default is 15 seconds.
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
