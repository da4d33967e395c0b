import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { otherwise, throwBug } from '../../domain/bug';
import { systemCode } from './system-errors';

export interface OperatingSystem {
  readonly platform: NodeJS.Platform;
  /** Runs a command without a shell. @returns its output; rejects if it fails */
  readonly run: (command: string, args: readonly string[]) => Promise<string>;
}

const run = promisify(execFile);

export const OPERATING_SYSTEM: OperatingSystem = {
  platform: process.platform,
  // Print times the same way, whatever the calling process's time zone and language.
  run: async (command, args) =>
    (await run(command, args, { env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } })).stdout,
};

/** Where macOS and Windows keep a machine ID that does not change with the network or the host name. */
const ID_OF: {
  readonly [platform: string]: readonly [command: string, args: readonly string[], id: RegExp];
} = {
  darwin: ['/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'], /"IOPlatformUUID"\s*=\s*"([^"]+)"/],
  win32: [
    'reg.exe',
    ['query', 'HKLM\\SOFTWARE\\Microsoft\\Cryptography', '/v', 'MachineGuid', '/reg:64'],
    /MachineGuid\s+REG_SZ\s+(\S+)/,
  ],
};

let known: Promise<string | undefined> | undefined;

/** Returns the operating system's machine ID; undefined if it cannot be read. Runs a command at most once. */
export async function machineId(system: OperatingSystem = OPERATING_SYSTEM): Promise<string | undefined> {
  const asked = ID_OF[system.platform];
  if (asked === undefined) {
    const id = await readFile('/etc/machine-id', 'utf8').catch(otherwise(''));
    return id.trim() || undefined;
  }
  const [command, args, id] = asked;
  const ask = async () => id.exec(await system.run(command, args).catch(otherwise('')))?.[1];
  return system === OPERATING_SYSTEM ? (known ??= ask()) : ask();
}

/**
 * Identifies the host whose processes are visible here. On Linux it is the host name, because containers on one machine
 * do not see each other's processes. Elsewhere it is the machine ID, because the name changes with the network.
 */
export async function hostOfProcesses(): Promise<string> {
  return process.platform === 'linux' ? hostname() : ((await machineId()) ?? hostname());
}

/** The identity of a running process about which nothing else is known. Its locks stay valid. */
const UNKNOWN = 'unknown';

/**
 * Returns a string that is constant while a process runs and differs for a later process with the same ID. Null if the
 * process is not running. The ID alone is not enough: a restarted container assigns the same small numbers again.
 */
export async function processIdentity(
  pid: number,
  system: OperatingSystem = OPERATING_SYSTEM,
): Promise<string | null> {
  if (!exists(pid)) return null;
  try {
    return await (system.platform === 'linux' ? linuxStart(pid) : startTime(pid, system));
  } catch (error) {
    throwBug(error);
    // The process has just ended, or it is hidden, or the command is not allowed here.
    return exists(pid) ? UNKNOWN : null;
  }
}

/** Whether the process that had this identity is still running. */
export async function runs(process: {
  readonly pid: number;
  readonly identity: string | null;
}): Promise<boolean> {
  const now = await processIdentity(process.pid);
  if (now === null) return false;
  return now === process.identity || now === UNKNOWN || process.identity === UNKNOWN;
}

/** A process, named so that another one on its host can prove that it has ended. */
interface ProcessName {
  /** Where process IDs mean the same: on Linux a boot and a PID namespace, elsewhere a machine. */
  readonly space: string;
  readonly pid: number;
  /** See {@link processIdentity}. */
  readonly identity: string;
}

let own: Promise<ProcessName | undefined> | undefined;

/** Returns the name of this process; undefined if the operating system does not reveal enough. */
export function ownProcess(): Promise<ProcessName | undefined> {
  return (own ??= nameOf(process.pid));
}

async function nameOf(pid: number): Promise<ProcessName | undefined> {
  const [space, identity] = await Promise.all([processSpace(), processIdentity(pid)]);
  if (space === undefined || identity === null || identity === UNKNOWN) return undefined;
  return { space, pid, identity };
}

/** A host name is not enough here: containers in the host's network share it, and see other processes. */
async function processSpace(): Promise<string | undefined> {
  if (process.platform !== 'linux') return machineId();
  const [boot, namespace] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(otherwise('')),
    readlink('/proc/self/ns/pid').catch(otherwise('')),
  ]);
  return boot === '' || namespace === '' ? undefined : `${boot.trim()}/${namespace}`;
}

/** Whether a process has certainly ended. False if this process could not see it. */
export async function hasEnded({ space, ...named }: ProcessName): Promise<boolean> {
  return space === (await ownProcess())?.space && !(await runs(named));
}

async function startTime(pid: number, { platform, run }: OperatingSystem): Promise<string | null> {
  const started =
    platform === 'win32'
      ? await run('powershell.exe', [
          '-NoProfile',
          '-NonInteractive',
          '-Command',
          `(Get-Process -Id ${pid} -ErrorAction Stop).StartTime.ToFileTimeUtc()`,
        ])
      : await run('ps', ['-o', 'lstart=', '-p', String(pid)]);
  return started.trim() || null;
}

async function linuxStart(pid: number): Promise<string | null> {
  const [boot, stat] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
  ]);
  // The command in parentheses may contain spaces, so count fields after it. State is the 3rd, start time the 22nd.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? null : `${boot.trim()}/${fields[19]}`;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/**
 * The environment for a child process that needs none of the user's secrets: without the media workers' keys, addresses
 * and stores (`MEDIA_*`) and the variables of the AWS SDK and libpq (`AWS_*`, `PG*`).
 * @param also matches additional names to leave out
 */
export function childEnvironment(env: NodeJS.ProcessEnv, also?: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^(?:MEDIA_|AWS_|PG[A-Z])/i.test(name) && also?.test(name) !== true,
    ),
  );
}

const LOOPBACK = '127.0.0.1';

/** Returns a port that was free on 127.0.0.1 a moment ago. The caller must be prepared to try another port. */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string')
    throw new Error('no TCP port is available on 127.0.0.1');
  return address.port;
}

export async function isPortFree(port: number): Promise<boolean> {
  try {
    const server = await listen(port);
    server.close();
    await once(server, 'close');
    return true;
  } catch (error) {
    throwBug(error);
    return false;
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
  return server;
}
