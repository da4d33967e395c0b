import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processIdentity } from '../testing/temporal-server/owner-lock';

/** What `dev` tells other commands about itself, in `dev.json` of the data directory. Never a key. */
export interface DevState {
  readonly v: 1;
  readonly pid: number;
  /** Tells this process from a later one with the same pid. */
  readonly identity: string | null;
  readonly startedAt: string;
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string | null;
  readonly retention: string;
  readonly taskQueue: string;
  readonly sandbox: DevSandbox | null;
  readonly pids: { readonly server?: number; readonly sandbox?: number; readonly worker?: number };
}

export interface DevSandbox {
  readonly url: string;
  readonly mediaUrl: string;
  readonly modelsUrl: string;
  readonly adminUrl: string;
}

/** Ports that the next start takes again: the account of every task is a digest of the base address (architecture: Requests). */
export interface DevPorts {
  readonly temporal?: number;
  readonly ui?: number;
  readonly sandbox?: number;
  readonly media?: number;
}

const stateFile = (dataDir: string): string => join(dataDir, 'dev.json');
const portsFile = (dataDir: string): string => join(dataDir, 'dev-ports.json');

/** The `dev` that runs on this data directory; undefined when there is none, or its process is gone. */
export async function readDevState(dataDir: string): Promise<DevState | undefined> {
  const state = (await readJson(stateFile(dataDir))) as Partial<DevState> | undefined;
  if (state?.v !== 1 || typeof state.pid !== 'number' || typeof state.address !== 'string') return undefined;
  const identity = await processIdentity(state.pid);
  return identity !== null && identity === state.identity ? (state as DevState) : undefined;
}

export async function writeDevState(dataDir: string, state: DevState): Promise<void> {
  await writeJson(stateFile(dataDir), state);
}

export async function removeDevState(dataDir: string): Promise<void> {
  await rm(stateFile(dataDir), { force: true });
}

export async function readDevPorts(dataDir: string): Promise<DevPorts> {
  const ports = await readJson(portsFile(dataDir));
  const entries = Object.entries(typeof ports === 'object' && ports !== null ? ports : {});
  return Object.fromEntries(
    entries.filter(([, port]) => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536),
  );
}

export async function writeDevPorts(dataDir: string, ports: DevPorts): Promise<void> {
  await writeJson(portsFile(dataDir), ports);
}

/** A file that is missing or broken says nothing. */
async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** A reader sees the old content or the new one, never half of it. */
async function writeJson(file: string, content: object): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}
