'use strict';
// A user's workflows in golden histories, which call the package's helpers. They are replayed together with the
// package's own workflows, so their commands must not change either.
const { workflowInfo } = require('@temporalio/workflow');
const workflows = require('../../lib/workflows');

/** Buys one video as a child and returns its outcome. */
async function buyFilm(input) {
  return workflows.executeVideo(input, { taskQueue: workflowInfo().taskQueue });
}

/** Makes an image and edits it: one step's result is the next step's input. */
async function makePoster({ image, edit }) {
  const media = workflows.mediaActivities({ taskQueue: workflowInfo().taskQueue });
  const made = await media.generateImage(image);
  if (made.outcome !== 'completed') return made;
  return media.editImage({ ...edit, images: made.images.map((artifact) => ({ artifact })) });
}

module.exports = { ...workflows, buyFilm, makePoster };
