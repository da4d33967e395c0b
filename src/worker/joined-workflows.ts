/**
 * Combines the user's workflows and this package's in one bundle. Used only inside bundles. This is a CommonJS module,
 * because an ES module cannot export names that are unknown in advance.
 *
 * @module
 */
import users = require('./users-workflows');
import names = require('../domain/names');
import workflows = require('../workflows');

const all: Readonly<Record<string, unknown>> = { ...workflows };
// Skip the helpers that this package exports in addition to its workflows, because the user's workflows may have the
// same names.
const ours = Object.fromEntries(
  Object.values(names.WORKFLOW).flatMap((type) => (type in all ? [[type, all[type]]] : [])),
);
// If the user's file re-exports this package's workflows, the functions are identical.
const taken = Object.keys(ours).filter((type) => type in users && users[type] !== ours[type]);
if (taken.length > 0) {
  const error = new Error(
    `Some of your workflows have the same name as temporal-media workflows: ${taken.join(', ')}. Rename yours, because ` +
      'clients and running videos use ours by these names.',
  );
  throw Object.assign(error, { name: names.NOT_JOINED });
}

export = { ...users, ...ours };
