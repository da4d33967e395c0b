'use strict';
// One process for the sandboxes of all test files of a run: a process for each costs half a second of processor time.
// `POST /` with options starts one and answers its addresses, `DELETE /` with its address stops it. Prints the host's
// own address in one line, and ends with its standard input.
const { createServer } = require('node:http');
const { text } = require('node:stream/consumers');
const { createSandbox } = require('../../packages/sandbox/lib');

/** Running sandboxes by the address of their API. */
const running = new Map();

async function start(options) {
  const { close, ...addresses } = await createSandbox(options);
  running.set(addresses.url, close);
  return addresses;
}

async function stop(url) {
  const close = running.get(url);
  running.delete(url);
  await close?.();
}

const server = createServer((request, response) => {
  const answer = async () => {
    const body = JSON.parse(await text(request));
    return request.method === 'POST' ? start(body) : stop(body.url);
  };
  answer().then(
    (addresses) => response.end(JSON.stringify(addresses ?? {})),
    (error) => response.writeHead(500).end(String(error?.message ?? error)),
  );
});

// Only the client closes a connection: one that the server closes may be the one of the next request.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
