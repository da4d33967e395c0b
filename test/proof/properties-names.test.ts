import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { safeName } from '../../packages/report/src/report-folder';
import { partOwner } from '../../src/activities/fetch-body';
import { artifactUri, isArtifactRef, sha256OfArtifactUri } from '../../src/domain/request';
import { isUsableTaskId } from '../../src/domain/video-task';
import { accountName, apiUrl, normaliseBaseUrl } from '../../src/service/endpoint';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { fenceEntry } from '../support/log-entries';

const any = fc.string({ unit: 'binary', maxLength: 40 });
const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const BASE = 'https://api.example/prefix';

describe('ids and paths', () => {
  it('a usable task id comes back from its path as it was, and stays in its segment', () => {
    fc.assert(
      fc.property(fc.oneof(any, fc.stringMatching(/^[./%a-f0-9]{1,12}$/)), (id) => {
        fc.pre(isUsableTaskId(id));
        const segments = apiUrl(BASE, 'videos', id, 'content').pathname.split('/');
        expect(segments).toHaveLength(6);
        expect(decodeURIComponent(segments[4]!)).toBe(id);
      }),
    );
  });

  it('an id that no path can hold is never usable', () => {
    fc.assert(
      fc.property(
        any,
        fc.constantFrom('\0', '\n', '\u007f', '\ud800', '\udc00'),
        any,
        (before, bad, after) => {
          const joined = `${before}${bad}${after}`;
          // Two halves of a character beside each other are one.
          fc.pre(bad < '\ud800' || /\p{Cs}/u.test(joined));
          expect(isUsableTaskId(joined)).toBe(false);
        },
      ),
    );
  });

  it('a base address has one spelling, whatever was pasted behind it', () => {
    const host = fc
      .tuple(fc.domain(), fc.option(fc.integer({ min: 1, max: 65_535 })))
      .map(([name, port]) => `https://${name}${port === null ? '' : `:${port}`}`);
    fc.assert(
      fc.property(
        host,
        fc.webPath(),
        fc.constantFrom('', '/', '/v1', '/v1/', '/V1//'),
        (origin, prefix, tail) => {
          fc.pre(!/[?#]/.test(prefix) && !/(^|\/)v1\/*$/i.test(prefix));
          const once = normaliseBaseUrl(`${origin}${prefix}${tail}`);
          expect(normaliseBaseUrl(once)).toBe(once);
          expect(normaliseBaseUrl(`${origin}${prefix}`.toString())).toBe(once);
          expect(accountName('default', `${origin}${prefix}${tail}`)).toBe(accountName('default', once));
        },
      ),
    );
  });

  it('the uri of an artifact and its hash are the same name', () => {
    fc.assert(
      fc.property(hash, any, (sha256, other) => {
        expect(sha256OfArtifactUri(artifactUri(sha256))).toBe(sha256);
        expect(isArtifactRef({ uri: artifactUri(sha256), mediaType: 'x', bytes: 1, sha256 })).toBe(true);
        expect(sha256OfArtifactUri(`${other}${artifactUri(sha256)}${other}`)).toBe(
          other === '' ? sha256 : undefined,
        );
      }),
    );
  });

  it('parts of two executions, places or entities never share a name', () => {
    const triple = fc.tuple(any, any, fc.option(any.filter((one) => one !== '')));
    fc.assert(
      fc.property(triple, triple, (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        expect(partOwner(...a)).not.toBe(partOwner(...b));
      }),
    );
  });

  it('two ids never get one file name, and no name leaves its folder', () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        const name = safeName(a);
        expect(path.basename(name)).toBe(name);
        expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/);
        if (a !== b) expect(name).not.toBe(safeName(b));
      }),
    );
  });

  it('two creation keys never share a place in the journal', async () => {
    const root = mkdtempSync(path.join(tmpdir(), 'properties-'));
    const journal = createFileJournal({ root });
    const key = fc.record({
      namespace: fc.stringMatching(/^[a-z]{1,3}$/),
      creationKey: fc.string({ maxLength: 8 }),
    });
    // Each run writes and syncs a file: fewer runs.
    await fc.assert(
      fc.asyncProperty(key, key, async (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        const own = await journal.read(a);
        const others = await journal.read(b);
        const entry = fenceEntry({ sender: randomUUID() });
        expect(await journal.append(a, own.length, entry)).toBe('won');
        expect(await journal.read(b)).toEqual(others);
        expect(await journal.read(a)).toEqual([...own, entry]);
      }),
      { numRuns: 50 },
    );
    rmSync(root, { recursive: true, force: true });
  });
});
