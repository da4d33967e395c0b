import { writeFile } from 'node:fs/promises';
import { systemCode } from 'temporal-media/internal/files/system-code';
import { CliError } from './errors';

interface WriteOptions {
  readonly mode?: number;
  /** Whether a file that is there is left as it is, and the command fails. @default false */
  readonly isNew?: boolean;
}

/**
 * Writes a file that somebody has named.
 * @param what the option or argument that names it
 * @throws CliError `cannot_write`
 */
export async function writeNamedFile(
  what: string,
  file: string,
  data: string | Uint8Array,
  { mode, isNew = false }: WriteOptions = {},
): Promise<void> {
  try {
    await writeFile(file, data, { flag: isNew ? 'wx' : 'w', ...(mode !== undefined && { mode }) });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST')
      throw new CliError('cannot_write', `${what}: ${file} already exists. Nothing is overwritten.`, {
        hint: 'Name another file, or remove this one.',
      });
    const hint = code === 'ENOENT' ? 'Create its folder, or name another file.' : 'Name another file.';
    throw new CliError('cannot_write', `${what}: ${file} cannot be written (${code}).`, { hint });
  }
}
