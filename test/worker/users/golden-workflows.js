'use strict';
// The user's workflows of golden histories without those of the package, which the plugin puts beside them.
const { buyFilm, makePoster } = require('../../../scripts/golden/execute-video.js');

module.exports = { buyFilm, makePoster };
