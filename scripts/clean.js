'use strict';
// `npm run clean`: removes every package's build output.
const fs = require('node:fs');
const path = require('node:path');
const { packageFolders } = require('./packages.js');

for (const folder of packageFolders()) fs.rmSync(path.join(folder, 'lib'), { recursive: true, force: true });
