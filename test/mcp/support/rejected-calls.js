'use strict';
// Makes calls that are rejected before they are sent, as a server that runs for days does, and prints how many
// connections to Temporal it opened. A process, because jest cannot load what the command line imports lazily.
const { Connection } = require('@temporalio/client');
const { AgentCalls } = require('../../../packages/mcp/lib/agent-calls');

async function main([ids, request]) {
  const { connect } = Connection;
  let opened = 0;
  Connection.connect = (options) => {
    opened += 1;
    return connect.call(Connection, options);
  };
  const calls = new AgentCalls({ env: process.env });
  const errors = [];
  for (const id of JSON.parse(ids)) {
    const paid = { operation: 'create_video', request: JSON.parse(request) };
    const started = calls.create(id, { paid }, () => Promise.resolve());
    errors.push(
      await started.then(
        () => 'started',
        ({ reply }) => reply.type,
      ),
    );
  }
  process.stdout.write(JSON.stringify({ errors, opened }), () => process.exit(0));
}

void main(process.argv.slice(2));
