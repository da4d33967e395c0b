import fs from 'node:fs';
import { promisify } from 'node:util';

/**
 * File operations on descriptors: a create opens ten files, a hand back reads thousands, and as many handles of
 * node:fs/promises keep the event loop busy for almost twice as long.
 */
export const bareFiles = {
  open: promisify(fs.open),
  read: promisify(fs.readFile),
  /** Writes all of the content. */
  write: promisify(fs.writeFile),
  /** Also for a `FileHandle`, by its `fd`: under Yarn Plug'n'Play handles lack `sync`. */
  sync: promisify(fs.fsync),
  syncData: promisify(fs.fdatasync),
  close: promisify(fs.close),
};
