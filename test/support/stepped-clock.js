'use strict';
/**
 * Steps the wall clock of a process and its threads: `CLOCK_STEP_FILE` contains the milliseconds by which it is wrong.
 * Loaded before anything else, by `NODE_OPTIONS=--require`.
 */
const { readFileSync } = require('node:fs');

const RealDate = Date;

function stepMs() {
  try {
    return Number(readFileSync(process.env['CLOCK_STEP_FILE'], 'utf8'));
  } catch {
    return 0;
  }
}

globalThis.Date = class Date extends RealDate {
  constructor(...values) {
    super(...(values.length === 0 ? [Date.now()] : values));
  }

  static now() {
    return RealDate.now() + stepMs();
  }
};
