'use strict';
// A goal is told, never asserted: machines differ.

/** `{figure, value, unit, goal, met}`; the comparison is `<=` or `>=`. */
function goal(figure, value, comparison, limit, unit) {
  const met = comparison === '<=' ? value <= limit : value >= limit;
  return { figure, value, unit, goal: `${comparison} ${limit}`, met };
}

module.exports = { goal };
