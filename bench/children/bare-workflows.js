'use strict';
// The least that a workflow can do about an image: what is measured beside it is the price of Temporal itself.
const { proxyActivities } = require('@temporalio/workflow');

const { bareImage } = proxyActivities({ startToCloseTimeout: '60s' });

module.exports.bareImageWorkflow = async () => bareImage();
