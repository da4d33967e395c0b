'use strict';
// Notices in a process of their own, to be killed: all settings are those of the environment.
const { startNotices } = require('@temporal-media/notices');

startNotices(process.env['DEFAULT_PAUSES'] ? {} : { everyMs: 300, pauses: { first: 200, longest: 1000 } });
process.stdout.write('ready\n');
// The process that started this one is gone.
process.stdin.on('end', () => process.exit(0)).resume();
