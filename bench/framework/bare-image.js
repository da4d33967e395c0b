'use strict';
// One image by undici alone.
const { performance } = require('node:perf_hooks');

/** What all of them send. Base64, so that nobody has to fetch a link. */
const IMAGE_BODY = {
  model: 'image-2',
  prompt: 'a teapot on a table',
  size: '512x512',
  n: 1,
  response_format: 'b64_json',
};

/** Milliseconds from the call to the last byte of the reply. */
async function bareImage(pool) {
  const startedAt = performance.now();
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/v1/images/generations',
    headers: { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' },
    body: JSON.stringify(IMAGE_BODY),
  });
  const { data } = await body.json();
  if (statusCode !== 200 || data.length !== 1) throw new Error(`The bare call came to ${statusCode}.`);
  return performance.now() - startedAt;
}

module.exports = { bareImage, IMAGE_BODY };
