'use strict';
// The packages of this repository, in the order in which they are built: the core at the root, then its companions, each
// after those that it imports.
const fs = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');
const FOLDER = path.join(ROOT, 'packages');

function readManifest(folder) {
  return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
}

/** Folders of the companions, in the order of their builds. */
function companions() {
  const folders = fs.readdirSync(FOLDER).map((name) => path.join(FOLDER, name));
  const left = new Map(folders.map((folder) => [readManifest(folder).name, folder]));
  const ordered = [];
  while (left.size > 0) {
    const ready = [...left].filter(([, folder]) =>
      Object.keys({ ...readManifest(folder).dependencies, ...readManifest(folder).peerDependencies }).every(
        (name) => !left.has(name),
      ),
    );
    if (ready.length === 0)
      throw new Error(`These packages need each other: ${[...left.keys()].join(', ')}.`);
    for (const [name, folder] of ready) {
      left.delete(name);
      ordered.push(folder);
    }
  }
  return ordered;
}

/** All folders with a package.json that is published: the root first. */
const packageFolders = () => [ROOT, ...companions()];

module.exports = { packageFolders, readManifest, ROOT };
