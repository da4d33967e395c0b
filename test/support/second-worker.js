'use strict';
/** A media worker beside the one of the test, in a process of its own. */
require('./worker-main.js').runWorkerProcess((journal) => journal);
