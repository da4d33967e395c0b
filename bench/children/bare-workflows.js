'use strict';
// The least that a workflow can do about an image: what is measured beside it is the price of Temporal itself.
const { proxyActivities } = require('@temporalio/workflow');

const { bareImage, nothing } = proxyActivities({ startToCloseTimeout: '60s' });

module.exports.bareImageWorkflow = async () => bareImage();

/** As many activities as a video with shared polling has: nothing that is paid or asked, so this is Temporal alone. */
module.exports.twoEmptyActivities = async () => {
  await nothing();
  await nothing();
};
