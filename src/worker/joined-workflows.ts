/**
 * The workflows of a bundle with the user's and ours. Used only inside bundles. A CommonJS module, because names that
 * are unknown in advance cannot be exported otherwise.
 *
 * @module
 */
import users = require('./users-workflows');
import names = require('../domain/names');
import workflows = require('../workflows');

const all: Readonly<Record<string, unknown>> = { ...workflows };
// Helpers that this package exports beside its workflows are not workflow types: the user may have the same names.
const ours = Object.fromEntries(
  Object.values(names.WORKFLOW).flatMap((type) => (type in all ? [[type, all[type]]] : [])),
);
// A file that re-exports ours has the same functions.
const taken = Object.keys(ours).filter((type) => type in users && users[type] !== ours[type]);
if (taken.length > 0) {
  const error = new Error(
    `Your workflows and those of temporal-media have the same name: ${taken.join(', ')}. Rename yours: clients and ` +
      'running videos know ours by these names.',
  );
  throw Object.assign(error, { name: names.NOT_JOINED });
}

export = { ...users, ...ours };
