'use strict';
const { open } = require('node:fs/promises');

/** A new file that is on the disk when this returns; its name is not yet, for the folder is not synced. */
async function writeDurably(file, text) {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

module.exports = { writeDurably };
