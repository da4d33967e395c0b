import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/sources';
import { guardedPage, inBrowser, shot } from './guarded-page';

inBrowser('the site of the pages and the reference, opened from disk', () => {
  let site: string;
  beforeAll(() => {
    site = mkdtempSync(path.join(tmpdir(), 'temporal-media-site-'));
    const script = path.join(ROOT, 'scripts', 'site.js');
    const { status, stdout } = spawnSync(process.execPath, [script, '--out', site], { encoding: 'utf8' });
    expect([status, stdout.trim().split('\n').at(-1)]).toEqual([0, expect.stringMatching(/, 0 problems$/)]);
  }, 600_000);
  afterAll(() => rmSync(site, { recursive: true, force: true }));
  const page = guardedPage(() => site, 1200);

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
          const target =
            place === '' ? path.join(site, file) : path.join(site, path.dirname(file), decodeURI(place));
          if (!existsSync(target) || !statSync(target).isFile()) return true;
          return anchor !== '' && target.endsWith('.html') && !idsOf(target).has(decodeURI(anchor));
        })
        .map((link) => `${file}: ${link}`);
    });
    expect(dead).toEqual([]);
  });

  it('finds a page and an export by a word, and opens them', async () => {
    await page().goto(pathToFileURL(path.join(site, 'index.html')).href);
    await shot(page(), 'site');
    await page().locator('#tsd-search-trigger').click();
    await page().locator('#tsd-search-input').fill('MediaPlugin');
    await page().locator('#tsd-search-results a').first().click();
    expect(await page().locator('h1').first().textContent()).toContain('MediaPlugin');
    await page().locator('#tsd-search-trigger').click();
    await page().locator('#tsd-search-input').fill('on call');
    await page().locator('#tsd-search-results a', { hasText: 'on-call' }).first().click();
    expect(await page().locator('h1').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringMatching(/video|call/i)]),
    );
  });
});
