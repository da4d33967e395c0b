import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json';
import {
  canAttest,
  nextVersion,
  parseChangelog,
  planRelease,
  provenanceProblems,
} from '../../scripts/release-plan';
import { PACKAGE_VERSION } from '../../src/domain/names';

const HEAD = '# Changelog\n\nA release that cannot replay is a major release.\n\n';
const FIXES = `${HEAD}## Unreleased\n\n### Fixed\n\n- One.\n- Two,\n  in two lines.\n\n## 1.2.3 - 2026-01-02\n\n- First.\n`;
const ADDS = FIXES.replace('### Fixed', '### Added');
const RELEASED = `${HEAD}## 1.2.3 - 2026-01-02\n\n### Added\n\n- First.\n`;

const plan = (changelog: string, asked?: string, current = '1.2.3') =>
  planRelease({ changelog, current, asked });

describe('parseChangelog', () => {
  it('reads the rule, and the entries of each section by heading', () => {
    expect(parseChangelog(FIXES)).toEqual({
      rule: 'A release that cannot replay is a major release.',
      sections: [
        { name: 'Unreleased', date: null, entries: { Fixed: 2 } },
        { name: '1.2.3', date: '2026-01-02', entries: { '': 1 } },
      ],
    });
  });

  it('workflow code has the version of package.json, which it cannot read', () => {
    expect(PACKAGE_VERSION).toBe(manifest.version);
  });

  it('reads that of this package, whose last version is the one in package.json', () => {
    const { rule, sections } = parseChangelog(
      readFileSync(join(__dirname, '..', '..', 'CHANGELOG.md'), 'utf8'),
    );
    expect(rule).toContain('cannot replay the histories');
    expect(sections.find(({ name }) => name !== 'Unreleased')?.name).toBe(manifest.version);
  });
});

describe('planRelease', () => {
  it.each([
    ['patch', '1.2.4'],
    ['minor', '1.3.0'],
    ['major', '2.0.0'],
    ['1.10.0', '1.10.0'],
  ])('%s after 1.2.3 is %s', (asked, version) => {
    expect(nextVersion('1.2.3', asked)).toBe(version);
    expect(plan(FIXES, asked)).toEqual({ version, prepared: false });
  });

  it('takes the version of package.json once its section has a date', () => {
    expect(plan(RELEASED, '1.2.3')).toEqual({ version: '1.2.3', prepared: true });
    expect(() => plan(RELEASED.replace('- First.\n', ''), '1.2.3')).toThrow('no entries');
  });

  it.each([
    ['no version', FIXES, undefined, 'Name the version'],
    ['an older version', FIXES, '1.2.2', '1.2.2 is not newer than 1.2.3'],
    ['the same version, with unreleased entries', FIXES, '1.2.3', 'is not newer'],
    ['something else', FIXES, '2.0.0-beta', 'not a version of the form X.Y.Z'],
    ['a patch with additions', ADDS, 'patch', 'entries under Added'],
    ['a patch by number with additions', ADDS, '1.2.9', 'entries under Added'],
    ['nothing unreleased', RELEASED, 'minor', 'no section "## Unreleased" with entries'],
    ['an empty section', FIXES.replace(/- One[^]*lines\.\n/, ''), 'patch', 'no section "## Unreleased"'],
  ])('refuses %s', (_, changelog, asked, message) => {
    expect(() => plan(changelog, asked)).toThrow(message);
  });

  it('refuses a package whose version is not that of the last section', () => {
    expect(() => plan(FIXES, 'patch', '1.2.2')).toThrow('package.json has version 1.2.2');
  });
});

describe('provenance', () => {
  it('wants the setting and the address of the repository', () => {
    expect(provenanceProblems({})).toEqual([
      'publishConfig.provenance is not true',
      expect.stringContaining('repository is missing'),
    ]);
    const repository = { type: 'git', url: 'git+https://example.com/media.git' };
    expect(provenanceProblems({ repository, publishConfig: { provenance: true } })).toEqual([]);
  });

  it('is possible only in a pipeline that gives an identity', () => {
    expect(canAttest({})).toBe(false);
    expect(canAttest({ GITHUB_ACTIONS: 'true' })).toBe(false);
    expect(canAttest({ GITHUB_ACTIONS: 'true', ACTIONS_ID_TOKEN_REQUEST_URL: 'https://example.com' })).toBe(
      true,
    );
    expect(canAttest({ GITLAB_CI: 'true', SIGSTORE_ID_TOKEN: 'token' })).toBe(true);
  });
});
