import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import manifest from '../../package.json';

const ROOT = join(__dirname, '..', '..');

/** `lib` is packed as it is: a build would take it away from the tests that run beside this one. */
function release(...args: string[]): { readonly code: number | null; readonly out: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/release.js', '--built', ...args],
    // No pipeline, also where the tests run in one.
    { cwd: ROOT, encoding: 'utf8', env: { ...process.env, GITHUB_ACTIONS: '', GITLAB_CI: '' } },
  );
  return { code: status, out: stdout + stderr };
}

// The working tree and the settings of the repository are a person's: their steps may fail here.
it('a dry run packs, validates and lists the package, and says what is left to do', () => {
  const { out } = release('--dry-run', 'major');
  expect(out).toMatch(/^ok {6}pack: .*\.tgz$/m);
  expect(out).toMatch(/^ok {6}files: temporal-media: \d+ files/m);
  expect(out).toMatch(/^ok {6}package: temporal-media: publint and are-the-types-wrong found no problems/m);
  expect(out).toMatch(/^not run suites: npm run verify, /m);
  expect(out).toMatch(/npm run release -- --version \d+\.0\.0$/m);
  const sbom = /^ok {6}packages: CycloneDX.*\n\s+(\S+)$/m.exec(out)?.[1] ?? '';
  const { components } = JSON.parse(readFileSync(sbom, 'utf8')) as {
    readonly components: readonly { readonly name: string }[];
  };
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
  expect(names).not.toContain('jest');
  rmSync(dirname(sbom), { recursive: true });
});

it('refuses to publish from anything but a pipeline with an identity', () => {
  const { code, out } = release('major');
  expect(out).toMatch(/^failed {2}publish: refused: this is not a pipeline/m);
  expect(code).toBe(1);
});
