/**
 * The user's workflows and ours in one bundle. Used only inside bundles. A CommonJS module, because an ES module cannot
 * export names that are unknown in advance.
 *
 * @module
 */
import users = require('./users-workflows');
import names = require('../domain/names');
import workflows = require('../workflows');

const all: Readonly<Record<string, unknown>> = { ...workflows };
// Skips helpers that this package exports in addition to its workflows. The user may use the same names for workflows.
const ours = Object.fromEntries(
  Object.values(names.WORKFLOW).flatMap((type) => (type in all ? [[type, all[type]]] : [])),
);
// A file that re-exports ours has the same functions.
const taken = Object.keys(ours).filter((type) => type in users && users[type] !== ours[type]);
if (taken.length > 0) {
  const error = new Error(
    `Some of your workflows have the same name as temporal-media workflows: ${taken.join(', ')}. Rename yours, because ` +
      'clients and running videos use ours by these names.',
  );
  throw Object.assign(error, { name: names.NOT_JOINED });
}

export = { ...users, ...ours };
