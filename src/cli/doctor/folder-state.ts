import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * - `there`: the folder exists.
 * - `missing`: it can be made: what is above it is a folder that can be written.
 * - `blocked`: something else has its name, or the rights are missing.
 */
export type FolderState = 'there' | 'missing' | 'blocked';

/** Looks without making anything. */
export async function folderState(folder: string): Promise<FolderState> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found === undefined && at !== dirname(at)) continue;
    if (found?.isDirectory() !== true) return 'blocked';
    if (at === folder) return 'there';
    return access(at, constants.W_OK | constants.X_OK).then(
      () => 'missing',
      () => 'blocked',
    );
  }
}
