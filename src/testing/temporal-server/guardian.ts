import { spawn } from 'node:child_process';

/**
 * Runs in a Node process of its own. Its standard input is a pipe from us: a line means that we stopped the server
 * ourselves, an end without one that we were killed.
 */
const SCRIPT = `
const pid = Number(process.argv[1]);
let released = false;
const kill = (signal) => { try { process.kill(pid, signal); return true; } catch { return false; } };
process.stdin.on('data', () => { released = true; process.exit(0); });
process.stdin.on('close', () => {
  if (released || !kill('SIGTERM')) process.exit(0);
  setTimeout(() => { kill('SIGKILL'); process.exit(0); }, 10000);
  setInterval(() => { if (!kill(0)) process.exit(0); }, 100);
});`;

/** Watches over a child that must not outlive this process. */
export interface Guardian {
  /** The child has ended: the guardian goes without touching anything. */
  release(): void;
}

/**
 * Stops the process `pid` (SIGTERM, after 10 s SIGKILL) when this process ends without calling `release`, a SIGKILL
 * included. The operating system closes the pipe in every case, so that no heartbeat is needed.
 */
export function guard(pid: number): Guardian {
  const child = spawn(process.execPath, ['-e', SCRIPT, String(pid)], {
    // Its own process group: Ctrl-C in a terminal must not end the guardian before its work is done.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env['PATH'] },
    windowsHide: true,
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  // The pipe alone must not keep our event loop alive.
  (child.stdin as unknown as { unref?: () => void }).unref?.();
  return { release: () => child.stdin.end('released\n') };
}
