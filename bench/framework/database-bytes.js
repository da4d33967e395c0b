'use strict';
// How large a SQLite database is, its write-ahead log included, while a server uses it.
const { readFile, open } = require('node:fs/promises');

const WAL_HEADER = 32;
const FRAME_HEADER = 24;

/**
 * Size after the next checkpoint: the last commit in the log says how many pages the database then has. The sizes of
 * the two files added up would count pages twice, and the log keeps its size when it is empty.
 */
async function databaseBytes(file) {
  const { pageSize, pages } = await readHeader(file);
  const wal = await readFile(`${file}-wal`).catch(() => undefined);
  return (pagesOfLog(wal, pageSize) ?? pages) * pageSize;
}

async function readHeader(file) {
  const handle = await open(file, 'r');
  try {
    const { buffer } = await handle.read({ length: 100, position: 0 });
    const pageSize = buffer.readUInt16BE(16);
    return { pageSize: pageSize === 1 ? 65_536 : pageSize, pages: buffer.readUInt32BE(28) };
  } finally {
    await handle.close();
  }
}

/** Undefined when the log holds no commit of its present round: its frames carry the salt of its header. */
function pagesOfLog(wal, pageSize) {
  if (wal === undefined || wal.length < WAL_HEADER) return undefined;
  const salt = wal.subarray(16, 24);
  let pages;
  for (let at = WAL_HEADER; at + FRAME_HEADER + pageSize <= wal.length; at += FRAME_HEADER + pageSize) {
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    const committed = wal.readUInt32BE(at + 4);
    if (committed > 0) pages = committed;
  }
  return pages;
}

module.exports = { databaseBytes };
