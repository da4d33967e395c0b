import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loopback, type Loopback } from '../service/loopback-service';
import { privateCa } from '../support/private-ca';

const GETTER = join(__dirname, '..', '..', 'lib', 'service', 'connections.js');

/** NODE_EXTRA_CA_CERTS is read when a process starts. */
const SCRIPT = `
  const { getterWithoutCredentials } = require(${JSON.stringify(GETTER)});
  getterWithoutCredentials({})(process.argv[1]).then(
    async ({ body, ...rest }) => console.log(JSON.stringify(body ? { text: await new Response(body).text() } : rest)),
    (error) => console.log(JSON.stringify({ error: String(error.cause ?? error) })),
  );
`;

describe('a model configuration or a manifest behind redirects', () => {
  let dir: string;
  let certificates: string;
  let secure: Loopback;
  let plain: Loopback;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'temporal-media-redirects-'));
    const ca = await privateCa();
    certificates = join(dir, 'ca.pem');
    await writeFile(certificates, ca.cert);
    const to = (request: { readonly url: string }): string => decodeURIComponent(request.url.slice(1));
    plain = await loopback(
      (request, response) =>
        request.url === '/'
          ? void response.end('over http')
          : void response.writeHead(302, { location: to(request) }).end(),
      undefined,
    );
    secure = await loopback(
      (request, response) => {
        if (request.url === '/') return void response.end('over https');
        if (request.url === '/loop') return void response.writeHead(302, { location: '/loop' }).end();
        response.writeHead(302, { location: to(request) }).end();
      },
      await ca.issue('localhost'),
    );
  });
  afterAll(async () => {
    await Promise.all([secure.close(), plain.close()]);
    await rm(dir, { recursive: true, force: true });
  });
  beforeEach(() => {
    secure.seen.length = plain.seen.length = 0;
  });

  const through = (origin: string, location: string): string => `${origin}/${encodeURIComponent(location)}`;

  async function get(address: string): Promise<unknown> {
    const env = { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: certificates };
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', SCRIPT, address], { env });
    return JSON.parse(stdout);
  }

  it('are followed, also from http to https and to a relative address', async () => {
    expect(await get(through(secure.origin, secure.origin))).toEqual({ text: 'over https' });
    expect(await get(through(plain.origin, secure.origin))).toEqual({ text: 'over https' });
    expect(await get(through(secure.origin, '/'))).toEqual({ text: 'over https' });
  });

  it('are refused from https to http before anything is sent there, also where the way leads back to https', async () => {
    expect(await get(through(secure.origin, plain.origin))).toEqual({ refused: 'downgraded' });
    expect(await get(through(secure.origin, through(plain.origin, secure.origin)))).toEqual({
      refused: 'downgraded',
    });
    expect(plain.seen).toEqual([]);
  });

  it('end after twenty of them', async () => {
    expect(await get(`${secure.origin}/loop`)).toMatchObject({
      error: expect.stringMatching(/redirect/) as unknown,
    });
    expect(secure.seen.length).toBeLessThanOrEqual(21);
  });
});
