import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseOwnJson } from '../domain/json';
import { ArtifactError } from './artifact-store';
import { systemCode } from '../files/system-code';
import { writeSynced } from '../files/write-synced';
import { publishIfAbsent, removeIfThere } from '../files/create-if-absent';
import { ensureFolder } from '../files/durable-folders';

const NAME = 'store.json';

/**
 * The id of the store in this folder, created by the first caller; the same from every machine that sees the folder.
 */
export async function storeIdentity(root: string): Promise<string> {
  const file = join(root, NAME);
  return (await readIdentity(file)) ?? makeIdentity(root, file);
}

async function makeIdentity(root: string, file: string): Promise<string> {
  await ensureFolder(root);
  const draft = join(root, `.${randomUUID()}.tmp`);
  try {
    await writeSynced(draft, [`${JSON.stringify({ v: 1, storeId: randomUUID() })}\n`], 0o600);
    await publishIfAbsent(draft, file);
  } finally {
    await removeIfThere(draft);
  }
  // The first process to publish a name wins.
  const storeId = await readIdentity(file);
  if (storeId === undefined) throw new ArtifactError('storage', `The ${NAME} of the artifact store is gone.`);
  return storeId;
}

async function readIdentity(file: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const storeId = identityIn(text);
  if (storeId !== undefined) return storeId;
  throw new ArtifactError('storage', `The ${NAME} of the artifact store does not hold its name.`);
}

function identityIn(text: string): string | undefined {
  try {
    const value = parseOwnJson(text);
    const storeId =
      typeof value === 'object' && value !== null && 'storeId' in value ? value.storeId : undefined;
    return typeof storeId === 'string' && storeId !== '' ? storeId : undefined;
  } catch {
    return undefined;
  }
}
