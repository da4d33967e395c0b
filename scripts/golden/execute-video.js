'use strict';
// Workflows of a user, as golden histories know them: callers of the package's helpers. Replayed together with the
// package's own workflows, so their commands may not change either.
const { workflowInfo } = require('@temporalio/workflow');
const workflows = require('../../lib/workflows');

/** Buys one video as a child and ends with its outcome. */
async function buyFilm(input) {
  return workflows.executeVideo(input, { taskQueue: workflowInfo().taskQueue });
}

/** Makes an image and edits it: the result of one step is the input of the next. */
async function makePoster({ image, edit }) {
  const media = workflows.mediaActivities({ taskQueue: workflowInfo().taskQueue });
  const made = await media.generateImage(image);
  if (made.outcome !== 'completed') return made;
  return media.editImage({ ...edit, images: made.images.map((artifact) => ({ artifact })) });
}

module.exports = { ...workflows, buyFilm, makePoster };
