'use strict';
/**
 * A worker in a process of its own whose code has a mistake in one place at a time, for as long as the test says. Code is
 * reached over the exports of its modules, so that a place is a function that another file calls.
 */
const { given } = require('../../lib/domain/json.js');
const { createMediaWorker } = require('../../lib/worker');
const { dataConverterOf } = require('../../packages/cli/lib/shared/data-converter.js');

const PLACES = JSON.parse(process.env['MISTAKES']);
let planted = null;

for (const place of PLACES) {
  const [file, name] = place.split('#');
  const exported = require(`../../lib/${file}.js`);
  const right = exported[name];
  if (typeof right !== 'function') throw new Error(`${place} is no function`);
  exported[name] = (...given) => {
    if (planted !== place) return right(...given);
    process.send({ hit: place });
    const nothing = undefined;
    return nothing.mistake;
  };
}

process.on('message', (place) => {
  planted = place;
  process.send({ planted: place });
});
process.once('disconnect', () => process.exit());

dataConverterOf(process.env, process.env['TEMPORAL_NAMESPACE'])
  .then((dataConverter) =>
    createMediaWorker({
      pollThread: false,
      workflows: { workflowBundle: { codePath: process.env['WORKFLOW_BUNDLE'] } },
      worker: given({ dataConverter }),
    }),
  )
  .then(async (media) => {
    const running = media.run();
    process.send({ ready: true });
    await running;
  })
  .catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
