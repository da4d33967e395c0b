'use strict';
// The workflows of the package, and one that watches many tasks in one loop, as a workflow of a user's own may do.
const { beginWatch } = require('../../lib/domain/watch-state.js');
const { videoTaskById } = require('../../lib/domain/video-task.js');
const workflows = require('../../lib/workflows/index.js');

/** Watches every task until the workflow is terminated. */
async function watchMany({ account, taskIds, polling }) {
  const loop = new workflows.PollLoop();
  const now = Date.now();
  const watches = taskIds.map((taskId) => {
    const video = videoTaskById(taskId, account, polling);
    return beginWatch({
      video,
      now,
      firstPollAt: now + 4_000,
      deadlineAt: now + 86_400_000,
      hardEndAt: null,
    });
  });
  await Promise.all(watches.map((watch) => loop.watch(watch)));
}

module.exports = { ...workflows, watchMany };
