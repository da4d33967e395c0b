'use strict';
// A user's module for MEDIA_DATA_CONVERTER: a storage whose driver throws instead of rejecting.
const { ExternalStorage } = require('@temporalio/common');

const fail = () => {
  throw new Error('the disk is full');
};
const driver = { name: 'own-disk', type: 'disk', store: fail, retrieve: fail };

module.exports = {
  dataConverter: { externalStorage: new ExternalStorage({ drivers: [driver], payloadSizeThreshold: 0 }) },
};
