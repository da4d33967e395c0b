'use strict';
// Rules that oxlint does not have.

const noEnum = {
  create: (context) => ({
    TSEnumDeclaration: (node) =>
      context.report({ node, message: 'Do not use enums. Use string unions, which survive serialization.' }),
  }),
};

const isWallClock = ({ object, property, computed }) =>
  !computed && object.type === 'Identifier' && object.name === 'Date' && property.name === 'now';

/** Whether the value is only passed on as an argument or a property, possibly after an addition. */
function isPassedOn(node) {
  const { parent } = node;
  if (parent.type === 'BinaryExpression' && parent.operator === '+') return isPassedOn(parent);
  if (parent.type === 'CallExpression' || parent.type === 'NewExpression') return parent.callee !== node;
  return parent.type === 'Property' && parent.value === node;
}

const noWallClockDurations = {
  create: (context) => ({
    MemberExpression(node) {
      if (!isWallClock(node)) return;
      const { parent } = node;
      const isCalled = parent.type === 'CallExpression' && parent.callee === node;
      if (isCalled && isPassedOn(parent)) return;
      context.report({
        node,
        message:
          'The wall clock can jump by hours. Measure durations with performance.now(). Pass Date.now() on directly if a time is stored, shown or compared with another machine.',
      });
    },
  }),
};

/** Whether nothing awaits the promise here. */
const isDetached = ({ parent }) =>
  parent.type === 'ExpressionStatement' || (parent.type === 'UnaryExpression' && parent.operator === 'void');

const SILENT =
  'This handler would hide our own bugs. Use .catch(otherwise(value)), or begin with throwBug(error).';

const noSilentCatch = {
  create: (context) => ({
    CatchClause(node) {
      if (!node.param) context.report({ node, message: SILENT });
    },
    CallExpression(node) {
      const { callee, arguments: given } = node;
      if (callee.type !== 'MemberExpression' || isDetached(node)) return;
      const handler = { catch: given[0], then: given[1] }[callee.property.name];
      if (handler?.type === 'ArrowFunctionExpression' && handler.params.length === 0)
        context.report({ node: handler, message: SILENT });
    },
  }),
};

module.exports = {
  meta: { name: 'house' },
  rules: {
    'no-enum': noEnum,
    'no-silent-catch': noSilentCatch,
    'no-wall-clock-durations': noWallClockDurations,
  },
};
