'use strict';
// A writer in a process of its own: node writer.js ROOT WHAT POINT. It stops for ever at the named point of what it
// writes, says so, and waits to be killed; without a point it waits for a word, does its work and tells what came of it.
const { Buffer } = require('node:buffer');
const fs = require('node:fs/promises');
const path = require('node:path');
const { setInterval } = require('node:timers');
const { FileArtifactStore } = require('../../../lib/stores/artifacts/file-store');
const { bareFiles } = require('../../../lib/stores/files/durable-files');
const { createFileJournal } = require('../../../lib/stores/journal/file-journal');

const [root, what, point] = process.argv.slice(2);
const bytes = Buffer.alloc(200_000, 'artifact ');
const store = new FileArtifactStore(path.join(root, 'store'));
const journal = createFileJournal({ root: path.join(root, 'journal') });
const key = { namespace: 'default', creationKey: 'order-1' };
const entry = {
  v: 1,
  kind: 'fence',
  namespace: 'default',
  sender: 'of the writer',
  workflowId: 'wf',
  activityId: '1',
  at: '2026-01-01T00:00:00.000Z',
};

const WORK = {
  artifact: () => store.putBuffer(bytes, { mediaType: 'video/mp4' }),
  entry: () => journal.append(key, 0, entry),
  async file() {
    const ref = await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    stopAt(point);
    return store.fetchTo(ref, path.join(root, 'out', 'video.mp4'));
  },
  race: () => Promise.all([1, 2, 3, 4].map(() => WORK.artifact())),
};

async function stop() {
  process.stdout.write('stopped\n');
  setInterval(() => undefined, 1e6);
  await new Promise(() => undefined);
}

/** Wraps what the stores call: `open`, `half`, `written`, `synced`, `linked`, `named`, `done`. */
function stopAt(where) {
  const { open, link, unlink } = fs;
  const drafts = new Set();
  const hooked = { write: half, writeFile: half };
  fs.open = async (file, flags, mode) => {
    const handle = await open(file, flags, mode);
    drafts.delete(handle.fd);
    if (!String(flags).startsWith('wx')) return handle;
    drafts.add(handle.fd);
    if (where === 'open') await stop();
    for (const [name, wrap] of Object.entries(hooked))
      handle[name] = wrap.bind(undefined, handle[name].bind(handle));
    return handle;
  };
  hookBareFiles(where, { half, sync, drafts });
  async function half(write, content, ...rest) {
    if (where !== 'half') return write(content, ...rest);
    await write(content.slice(0, content.length / 2));
    return stop();
  }
  async function sync(really) {
    if (where === 'written') await stop();
    return really();
  }
  fs.link = async (from, to) => {
    if (where === 'synced') await stop();
    await link(from, to);
    if (where === 'linked') await stop();
  };
  fs.unlink = async (file) => {
    if (where === 'named') await stop();
    await unlink(file);
    if (where === 'done') await stop();
  };
}

/** The same places where files are opened by their descriptors. */
function hookBareFiles(where, { half, sync, drafts }) {
  const { open, write, sync: reallySync } = bareFiles;
  bareFiles.open = async (file, flags, mode) => {
    const descriptor = await open(file, flags, mode);
    if (!String(flags).startsWith('wx')) {
      drafts.delete(descriptor);
      return descriptor;
    }
    drafts.add(descriptor);
    if (where === 'open') await stop();
    return descriptor;
  };
  bareFiles.write = (descriptor, content) => half((part) => write(descriptor, part), content);
  bareFiles.sync = (descriptor) => {
    const really = () => reallySync(descriptor);
    return drafts.has(descriptor) ? sync(really) : really();
  };
}

async function main() {
  if (point === undefined) {
    process.stdout.write('ready\n');
    await new Promise((resolve) => process.stdin.once('data', resolve));
  } else if (what !== 'file') stopAt(point);
  const answer = await WORK[what]().catch(({ name, code, message }) => ({ name, code, message }));
  process.stdout.write(`${JSON.stringify({ answer })}\n`);
  process.stdin.destroy();
}

void main();
