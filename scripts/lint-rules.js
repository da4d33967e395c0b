'use strict';
// What oxlint has no rule for.

const noEnum = {
  create: (context) => ({
    TSEnumDeclaration: (node) =>
      context.report({ node, message: 'No enums: use string unions, they survive serialisation.' }),
  }),
};

module.exports = { meta: { name: 'house' }, rules: { 'no-enum': noEnum } };
