import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { throwBug } from '../../domain/bug';
import { parseOwnJson } from '../../domain/json';
import { ArtifactError } from './artifact-store';
import { ifAbsent } from '../files/system-errors';
import { ensureFolder, publishIfAbsent, removeIfThere, writeSynced } from '../files/durable-files';

/** Name of the record that holds the id of a store. */
export const IDENTITY_NAME = 'store.json';

/** A record with a new id. */
export function newIdentity(): string {
  return `${JSON.stringify({ v: 1, storeId: randomUUID() })}\n`;
}

/** The id in such a record. @throws ArtifactError `storage` when it holds none */
export function parseStoreIdentity(text: string): string {
  const storeId = identityIn(text);
  if (storeId !== undefined) return storeId;
  throw new ArtifactError('storage', `The ${IDENTITY_NAME} of the artifact store does not hold its name.`);
}

/** The id of the store in this folder, created by the first caller; the same from every machine that sees the folder. */
export async function storeIdentity(root: string): Promise<string> {
  const file = join(root, IDENTITY_NAME);
  return (await readIdentity(file)) ?? makeIdentity(root, file);
}

async function makeIdentity(root: string, file: string): Promise<string> {
  await ensureFolder(root);
  const draft = join(root, `.${randomUUID()}.tmp`);
  try {
    await writeSynced(draft, [newIdentity()], 0o600);
    await publishIfAbsent(draft, file);
  } finally {
    await removeIfThere(draft);
  }
  // The first process to publish a name wins.
  const storeId = await readIdentity(file);
  if (storeId === undefined)
    throw new ArtifactError('storage', `The ${IDENTITY_NAME} of the artifact store is gone.`);
  return storeId;
}

async function readIdentity(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(ifAbsent(undefined));
  return text === undefined ? undefined : parseStoreIdentity(text);
}

function identityIn(text: string): string | undefined {
  try {
    const value = parseOwnJson(text);
    const storeId =
      typeof value === 'object' && value !== null && 'storeId' in value ? value.storeId : undefined;
    return typeof storeId === 'string' && storeId !== '' ? storeId : undefined;
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}
