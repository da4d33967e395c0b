'use strict';
// A thread that ends at its first tick.
const { parentPort } = require('node:worker_threads');

parentPort.on('message', () => process.exit(3));
