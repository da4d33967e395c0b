'use strict';
/**
 * Calls of a media client in a process of its own, wired as the worker does it: proxies and extra certificates come
 * from this process's environment. CALLS is JSON, [["create"], ["poll", id], ["content", id], ["fetch", url]]; each
 * result is one line.
 */
const { URL } = require('node:url');
const { createMediaClient } = require('../../../lib/activities');

const body = {
  kind: 'json',
  json: { model: 'm', prompt: 'p' },
  text: '{"model":"m","prompt":"p"}',
  bodyHash: 'h',
};

async function main() {
  const client = createMediaClient({
    baseUrl: process.env['BASE_URL'],
    apiKey: () => process.env['API_KEY'],
  });
  const fetched = async (url) => {
    const { body: bytes, ...result } = await client.fetchContent({ url });
    return bytes === undefined ? result : { ...result, text: await bytes.text() };
  };
  const calls = {
    create: async () => {
      let marks = 0;
      const result = await client.createVideo(body, { policy: {}, onSend: () => void (marks += 1) });
      return { ...result, marks };
    },
    poll: (id) => client.getVideo(id),
    content: (id) => fetched(client.contentUrl(id)),
    fetch: (url) => fetched(new URL(url)),
  };
  for (const [name, argument] of JSON.parse(process.env['CALLS']))
    process.stdout.write(`${JSON.stringify(await calls[name](argument))}\n`);
  await client.close();
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
