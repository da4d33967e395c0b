import fs from 'node:fs';
import { promisify } from 'node:util';

/**
 * Files by their descriptors: a create opens ten of them, a hand back reads thousands, and as many handles of
 * node:fs/promises keep the event loop busy for almost twice as long.
 */
export const bareFiles = {
  open: promisify(fs.open),
  read: promisify(fs.readFile),
  /** All of the content. */
  write: promisify(fs.writeFile),
  sync: promisify(fs.fsync),
  close: promisify(fs.close),
};
