'use strict';
// A log file that cannot fill a disk. A server that has lost its database writes 28 MB a minute.
const fs = require('node:fs');

const MAX_BYTES = 16 * 2 ** 20;

/** @returns a function that appends a chunk to `file`, at most twice `maxBytes` with the older half in `file.1` */
function boundedLog(file, maxBytes = MAX_BYTES) {
  let size = 0;
  return (chunk) => {
    if (size > 0 && size + chunk.length > maxBytes) {
      fs.renameSync(file, `${file}.1`);
      size = 0;
    }
    fs.appendFileSync(file, chunk, { mode: 0o600 });
    size += chunk.length;
  };
}

/** Returns the end of a log. */
function endOfLog(file, bytes = 2_000) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').slice(-bytes) : '';
}

module.exports = { boundedLog, endOfLog };
