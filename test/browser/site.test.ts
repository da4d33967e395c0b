import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../support/sources';
import { guardedPage, inBrowser, shot } from './guarded-page';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};

inBrowser('the site of the pages and the reference', () => {
  let site: string;
  let server: Server;
  let address: string;
  beforeAll(async () => {
    site = mkdtempSync(path.join(tmpdir(), 'temporal-media-site-'));
    const script = path.join(ROOT, 'scripts', 'site.js');
    const { status, stdout } = spawnSync(process.execPath, [script, '--out', site], { encoding: 'utf8' });
    expect([status, stdout.trim().split('\n').at(-1)]).toEqual([0, expect.stringMatching(/, 0 problems$/)]);
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', address);
      const file = path.join(site, decodeURI(pathname.endsWith('/') ? `${pathname}index.html` : pathname));
      const found = existsSync(file) && statSync(file).isFile();
      // Chromium asks for an icon.
      const status = pathname === '/favicon.ico' ? 204 : 404;
      response.writeHead(found ? 200 : status, { 'content-type': TYPES[path.extname(file)] ?? 'text/plain' });
      response.end(found ? readFileSync(file) : '');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }, 600_000);
  afterAll(() => {
    server.close();
    rmSync(site, { recursive: true, force: true });
  });
  const page = guardedPage(() => address, 1200);

  it('has every page of docs/, and no link in any file leads nowhere', () => {
    const files = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.html'),
    );
    for (const name of readdirSync(path.join(ROOT, 'docs')).filter((one) => one.endsWith('.md')))
      expect(files).toContain(path.join('documents', `docs_${name.replace(/\.md$/, '.html')}`));
    const targets = new Map<string, ReadonlySet<string>>();
    const idsOf = (file: string): ReadonlySet<string> => {
      const known =
        targets.get(file) ??
        new Set([...readFileSync(file, 'utf8').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? ''));
      targets.set(file, known);
      return known;
    };
    const dead = files.flatMap((file) => {
      const text = readFileSync(path.join(site, file), 'utf8');
      const links = new Set([...text.matchAll(/ href="(?![a-z]+:)([^"]+)"/g)].map(([, link]) => link ?? ''));
      return [...links]
        .filter((link) => {
          const [place = '', anchor = ''] = link.split('#');
          const named = path.join(site, path.dirname(file), decodeURI(place));
          const target =
            place === ''
              ? path.join(site, file)
              : place.endsWith('/')
                ? path.join(named, 'index.html')
                : named;
          if (!existsSync(target) || !statSync(target).isFile()) return true;
          return anchor !== '' && target.endsWith('.html') && !idsOf(target).has(decodeURI(anchor));
        })
        .map((link) => `${file}: ${link}`);
    });
    expect(dead).toEqual([]);
  });

  it('finds a page and an export by a word, and opens them', async () => {
    await page().goto(address);
    await shot(page(), 'site');
    await page().locator('#tsd-search-trigger').click();
    await page().locator('#tsd-search-input').fill('MediaPlugin');
    await page().locator('#tsd-search-results a').first().click();
    expect(await page().locator('h1').first().textContent()).toContain('MediaPlugin');
    await page().locator('#tsd-search-trigger').click();
    await page().locator('#tsd-search-input').fill('docs/on-call');
    await page().locator('#tsd-search-results a', { hasText: 'on-call' }).first().click();
    expect(await page().locator('h1').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringMatching(/video|call/i)]),
    );
  });
});
