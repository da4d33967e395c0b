'use strict';
// What can happen to the reply of a create, as the sandbox does it. A gateway's 500, 502 and 504 say nothing about the
// service behind it, so here it has accepted the create; a 429 means that it has not.

const gateway = (status) => ({ type: 'accept_then_status', status });
const lost = (how) => ({ type: 'lose_reply', accepted: true, how });

/** Name of each fault, in the order of the table, and what the sandbox does. */
const WIRE_FAULTS = {
  reset: lost('reset'),
  502: gateway(502),
  500: gateway(500),
  504: gateway(504),
  429: { type: 'status', status: 429 },
  stall: lost('stall'),
  'body stall': lost('stall_body'),
  'body cut': lost('cut_body'),
};

const FAULT_NAMES = ['reset', '502', '500', '504', '429', 'stall', 'body stall', 'body cut'];

/** The rule that does it to the first `times` creates; 0 = to every one. */
function faultRule(name, times = 0) {
  return { operation: 'create', times, action: WIRE_FAULTS[name] };
}

module.exports = { FAULT_NAMES, faultRule };
