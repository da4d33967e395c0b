import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createContext, runInContext, Script } from 'node:vm';
import { GALLERY_SCRIPT } from '../../packages/report/src/gallery-assets';
import { CONTENT_POLICY } from '../../packages/report/src/gallery-templates';
import { writeReport } from '../../packages/report/src/write-report';
import { factsOf, makeResult, planOf, putPlan, putSegments, resultsRef } from './make-campaign';
import { filesOf, reportPlace, type ReportPlace } from './report-place';

const HOSTILE = [
  `<script>alert(1)</script>`,
  `</script><script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `' onmouseover='alert(1)`,
  `<!-- --><![CDATA[ ]]> &lt;b&gt; &#x3c;`,
  `<%= it %> <%~ it %> {{x}} \${x} \`x\``,
  `\u2028\u2029\u0000\u001b[31m`,
  `\u202Egpj.exe\u202C \u2066x\u2069 \u200F`,
  `\ud800 lone`,
  `javascript:alert(1)`,
  `${'long <b> '.repeat(1_200)}`,
  '',
];

describe('texts of others in a report', () => {
  let place: ReportPlace;
  beforeEach(async () => {
    place = await reportPlace();
  });
  afterEach(() => place.remove());

  test('prompts, keys, models and words of the service never are markup or script', async () => {
    const { store, out } = place;
    const key = (row: number): string => `k${row} ${HOSTILE[row]?.slice(0, 100)}`;
    const results = HOSTILE.map((text, row) =>
      makeResult(row, {
        key: key(row),
        outcome: 'failed',
        model: text.slice(0, 40),
        reason: text,
        message: text,
        warnings: [text],
        account: text,
        taskId: text,
        usage: { [text]: text },
        reported: { model: text, resolution: text },
      }),
    );
    const plan = await putPlan(store, HOSTILE.length, (row) => HOSTILE[row] ?? '', { key });
    await writeReport({
      store,
      out,
      results: resultsRef(await putSegments(store, results)),
      facts: factsOf(results, {
        campaign: '<i>trip</i>"',
        notes: HOSTILE,
        plan: planOf(plan, HOSTILE.length, {
          invalid: 1,
          issues: HOSTILE.map((message, line) => ({ line, column: message, message })),
        }),
      }),
    });
    for (const name of ['index.html', 'page-0001.html']) {
      const html = await readFile(join(out, name), 'utf8');
      expect(html).toContain(`content="${CONTENT_POLICY}"`);
      const tags = [...html.matchAll(/<[a-z!/][^>]*>/gi)].map(([tag]) => tag);
      const words = new Set(tags.map((tag) => /^<[!/]?([a-z0-9]*)/i.exec(tag)?.[1]?.toLowerCase()));
      for (const word of ['img', 'b', 'i', 'iframe', 'style'])
        if (word !== 'b' || name !== 'index.html') expect([...words]).not.toContain(word);
      expect(tags.filter((tag) => /<script/i.test(tag))).toEqual([
        '<script defer src="data/index.js">',
        '<script defer src="assets/gallery.js">',
      ]);
      for (const tag of tags) {
        // Values may hold anything but the quote that ends them.
        expect(tag.replace(/"[^"]*"/g, '""')).not.toMatch(/\son[a-z]+\s*=|\sstyle\s*=|[']/i);
        expect(tag).not.toMatch(
          /(href|src)="(?!data\/|assets\/|index\.html|page-|results\.|summary\.|media\/)/,
        );
      }
    }
  });

  test('the data of a page is one call with the cards of that page', async () => {
    const { store, out } = place;
    const results = HOSTILE.map((message, row) => makeResult(row, { outcome: 'failed', message }));
    const plan = await putPlan(store, HOSTILE.length, (row) => HOSTILE[row] ?? '');
    await writeReport({
      store,
      out,
      results: resultsRef(await putSegments(store, results)),
      facts: factsOf(results, { plan: planOf(plan, HOSTILE.length) }),
    });
    const script = await readFile(join(out, 'data/page-0001.js'), 'utf8');
    expect(script).not.toMatch(/[<>\u2028\u2029]/);
    const calls: unknown[][] = [];
    runInContext(script, createContext({ galleryPage: (...args: unknown[]) => calls.push(args) }));
    expect(calls).toHaveLength(1);
    const cards = calls[0]?.[1] as [outcome: string, kind: string, model: string, card: string][];
    const page = await readFile(join(out, 'page-0001.html'), 'utf8');
    expect(cards).toHaveLength(HOSTILE.length);
    for (const [, , , card] of cards) expect(page).toContain(card.replaceAll('\ud800', '\ufffd'));
    expect(() => new Script(GALLERY_SCRIPT)).not.toThrow();
  });

  test('no file is named by a prompt or by the service, and all links are relative', async () => {
    const { store, out } = place;
    const results = [makeResult(0, { taskId: 'TASKWORD', outcome: 'failed', message: 'MESSAGEWORD' })];
    const plan = await putPlan(store, 1, () => 'PROMPTWORD');
    await writeReport({
      store,
      out,
      results: resultsRef(await putSegments(store, results)),
      facts: factsOf(results, { plan: planOf(plan, 1) }),
    });
    const names = Object.keys(await filesOf(out));
    expect(names.join(' ')).not.toMatch(/WORD/);
    for (const name of names.filter((one) => one.endsWith('.html'))) {
      const html = await readFile(join(out, name), 'utf8');
      for (const [, link] of html.matchAll(/(?:href|src)="([^"]*)"/g)) expect(link).not.toMatch(/^\/|^\w+:/);
      expect(html).not.toContain(place.root);
    }
  });
});
