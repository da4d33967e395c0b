'use strict';
// This repository's packages in build order: the core at the root, then its companions, each after the packages that it
// imports.
const fs = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');
const FOLDER = path.join(ROOT, 'packages');

function readManifest(folder) {
  return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
}

/** Returns the companions' folders in build order. */
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
      throw new Error(`These packages depend on each other: ${[...left.keys()].join(', ')}.`);
    for (const [name, folder] of ready) {
      left.delete(name);
      ordered.push(folder);
    }
  }
  return ordered;
}

/** Returns the folders of all published packages, the root first. */
const packageFolders = () => [ROOT, ...companions()];

module.exports = { packageFolders, readManifest, ROOT };
