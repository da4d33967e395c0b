import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { makeMp4 } from '../../stores/artifacts/make-media';
import { COOKIE, KEY, PROMPT, SIGNATURE } from './canaries';

/** A media host of somebody else, at signed addresses. It sets cookies and echoes what it can. */
export interface ForeignHost {
  readonly origin: string;
  readonly signedUrl: (file: string) => string;
  /** Everything that it was told, but the signature that it made itself. */
  readonly heard: string[];
  close(): Promise<void>;
}

export async function foreignHost(): Promise<ForeignHost> {
  const video = await makeMp4();
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push([request.method, request.url?.replace(/\?.*/, ''), ...request.rawHeaders].join(' '));
    const echo = `${KEY.value} ${PROMPT.value} ${COOKIE.value}`;
    response.setHeader('set-cookie', `session=${COOKIE.value}`);
    if (request.url?.startsWith('/video') === true)
      response
        .writeHead(200, { 'content-type': 'video/mp4', etag: `"${SIGNATURE.value}?sig=${SIGNATURE.value}"` })
        .end(video);
    else response.writeHead(404, { 'x-echo': SIGNATURE.value }).end(JSON.stringify({ error: echo }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    heard,
    signedUrl: (file) => `${origin}/${file}?X-Amz-Signature=${SIGNATURE.value}&X-Amz-Expires=900`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
