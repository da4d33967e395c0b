'use strict';
// A service that does nothing but move bytes: every task is completed, its content is a real MP4 padded to the
// size that the task's id names, and an edit is read to its end and answered with one small image.
const { randomBytes } = require('node:crypto');
const { createServer } = require('node:http');
const { Buffer } = require('node:buffer');
const { renderMedia } = require('../../packages/sandbox/lib/render-video.js');

const BLOCK = randomBytes(1024 * 1024);
const VIDEO = { model: 'cine-1', prompt: 'padded', seconds: 2, resolution: '480p', aspectRatio: '16:9' };
const IMAGE = { model: 'image-2', prompt: 'edited', width: 512, height: 512, index: 0, inputs: [] };

async function main() {
  const video = await renderMedia({ kind: 'video', ...VIDEO });
  const image = await renderMedia({ kind: 'image', ...IMAGE });
  const server = createServer((request, response) => {
    if (request.method === 'POST') return void takeEdit(request, response, image);
    // A task's id is the size of its file.
    const [, size, content] = /^\/v1\/videos\/size-(\d+)(\/content)?$/.exec(request.url) ?? [];
    if (size === undefined) return void response.writeHead(404).end();
    if (content === undefined) return void sendJson(response, { id: `size-${size}`, status: 'completed' });
    sendVideo(response, video, Number(size));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.send({ url: `http://127.0.0.1:${server.address().port}` });
}

function sendJson(response, body) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The video and one box `free` behind it, which players skip. */
function sendVideo(response, video, size) {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size - video.length, 0);
  head.write('free', 4);
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': size });
  response.write(Buffer.concat([video, head]));
  let left = size - video.length - head.length;
  const more = () => {
    while (left > 0) {
      const block = left < BLOCK.length ? BLOCK.subarray(0, left) : BLOCK;
      left -= block.length;
      if (!response.write(block)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}

/** Reads the body to its end and says how much that was, so that nobody measures half an upload. */
function takeEdit(request, response, image) {
  let bytes = 0;
  request.on('data', (chunk) => {
    bytes += chunk.length;
  });
  request.on('end', () => {
    const reply = {
      created: Math.floor(Date.now() / 1000),
      data: [{ b64_json: image.toString('base64') }],
      usage: { received_bytes: bytes },
    };
    sendJson(response, reply);
  });
}

process.on('disconnect', () => process.exit(0));
main().catch((error) => process.send({ error: error.message }));
