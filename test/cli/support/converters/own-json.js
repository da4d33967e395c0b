'use strict';
// A user's module for MEDIA_DATA_CONVERTER that names its own payload converter.
const path = require('node:path');

exports.dataConverter = { payloadConverterPath: path.join(__dirname, 'payload-converter.js') };
