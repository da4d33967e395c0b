'use strict';
// `npm run clean`: removes what the build of every package made.
const fs = require('node:fs');
const path = require('node:path');
const { packageFolders } = require('./packages.js');

for (const folder of packageFolders()) fs.rmSync(path.join(folder, 'lib'), { recursive: true, force: true });
