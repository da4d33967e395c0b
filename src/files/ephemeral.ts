import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { throwBug } from '../domain/bug';
import { systemCode } from './system-code';

/** File systems whose files end with a container or at the next start of the machine, by their numbers in statfs(2). */
const EPHEMERAL: ReadonlyMap<number, string> = new Map([
  [0x79_4c_76_30, 'overlay'],
  [0x01_02_19_94, 'tmpfs'],
  [0x85_84_58_f6, 'ramfs'],
]);

/**
 * What to say of a journal in this folder, there or to be made, that is lost with its container or machine. A volume of an
 * orchestrator that is removed with its pod looks as any disk does, and is not recognised.
 */
export async function ephemeralJournal(folder: string): Promise<string | undefined> {
  const kind = EPHEMERAL.get(await typeAt(folder));
  return kind === undefined
    ? undefined
    : `The journal of paid calls is on a file system (${kind}) whose files are lost with the container or the machine: what was paid for could then not be found again.`;
}

/** Of the nearest folder that is there; 0 where the system does not say it. */
async function typeAt(folder: string): Promise<number> {
  try {
    return (await statfs(folder)).type;
  } catch (error) {
    throwBug(error);
    const above = dirname(folder);
    return systemCode(error) === 'ENOENT' && above !== folder ? typeAt(above) : 0;
  }
}
