'use strict';
// `npm run release -- --dry-run (--version X.Y.Z | patch | minor | major) [--with-suites] [--built]`: runs every
// release check and prints each result. Publishes nothing. `--built` packs the existing lib instead of building it
// first. Without --dry-run, it publishes at the end, but only in a pipeline that can attest where the package was
// built, and only after the release commit. Exits with 1 if a step fails, after all steps have run.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { parseArgs } = require('node:util');
const { packageFolders, readManifest, ROOT: root } = require('./packages');
const { canAttest, parseChangelog, planRelease, provenanceProblems } = require('./release-plan');

const manifest = require('../package.json');
const SUITES = [
  'verify',
  'verify:long',
  'verify:stores',
  'verify:installed',
  'verify:replays',
  'verify:browser',
  'verify:languages',
  'verify:deep',
];
const OUTPUT_BYTES = 64 * 1024 * 1024;

const USAGE =
  'Usage: npm run release -- --dry-run (--version X.Y.Z | patch | minor | major) [--with-suites] [--built]';

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      'with-suites': { type: 'boolean', default: false },
      built: { type: 'boolean', default: false },
      version: { type: 'string' },
    },
  });
  const [step, ...more] = positionals;
  if (more.length > 0 || (step !== undefined && !['patch', 'minor', 'major'].includes(step)))
    throw new Error(USAGE);
  if (step !== undefined && values.version !== undefined) throw new Error(USAGE);
  return { ...values, asked: values.version ?? step };
}

/** Runs a program until it exits. Returns its output, or throws with its last lines. */
function run(file, args, { cwd = root, shell = false, stdio = 'pipe' } = {}) {
  const done = spawnSync(file, args, { cwd, shell, stdio, encoding: 'utf8', maxBuffer: OUTPUT_BYTES });
  if (done.error !== undefined) throw done.error;
  if (done.status === 0) return done.stdout ?? '';
  const said = `${done.stdout ?? ''}${done.stderr ?? ''}`.trim().split('\n');
  throw new Error(`exit code ${done.status}\n${said.slice(-10).join('\n')}`);
}

/** Runs npm, with its own file if it is known, because not every system can spawn `npm` directly. */
function npm(args, options) {
  const script = process.env.npm_execpath;
  return script?.endsWith('.js')
    ? run(process.execPath, [script, ...args], options)
    : run('npm', args, { ...options, shell: true });
}

function cleanTree() {
  const changed = run('git', ['status', '--porcelain']).trimEnd();
  if (changed !== '') throw new Error(`the working tree has changes\n${changed}`);
  return `clean at ${run('git', ['rev-parse', '--short', 'HEAD']).trim()}`;
}

function runSuites() {
  for (const suite of SUITES) npm(['run', suite], { stdio: 'inherit' });
  return SUITES.join(', ');
}

/**
 * Packs every package into `folder`, the core first, which builds all of them. npm reports a tarball's facts as JSON,
 * after the build's output.
 */
function packAll(folder, built) {
  return packageFolders().map((cwd) => {
    const flags = ['--json', '--pack-destination', folder, ...(built ? ['--ignore-scripts'] : [])];
    const said = npm(['pack', ...flags], { cwd });
    const [packed] = JSON.parse(said.slice(said.search(/^\[$/m)));
    const tarball = path.join(folder, packed.filename);
    const unpacked = path.join(folder, packed.filename.replace(/\.tgz$/, ''));
    fs.mkdirSync(unpacked);
    run('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components=1']);
    return { ...packed, tarball, unpacked };
  });
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

function listFiles({ name, files, size, unpackedSize, unpacked }) {
  const list = `${unpacked}.files.txt`;
  fs.writeFileSync(list, files.map((file) => `${file.size}\t${file.path}\n`).join(''));
  const byTop = new Map();
  for (const file of files) {
    const top = file.path.split('/')[0];
    byTop.set(top, (byTop.get(top) ?? 0) + file.size);
  }
  const tops = [...byTop].map(([top, bytes]) => `${top} ${megabytes(bytes)}`).join(', ');
  return `${name}: ${files.length} files, ${megabytes(size)} packed, ${megabytes(unpackedSize)} unpacked: ${tops}\n${list}`;
}

function validatePackage({ name, tarball, unpacked }) {
  const script = path.join(root, 'test', 'installed', 'support', 'validate-package.mjs');
  const { publint, types, resolved } = JSON.parse(run(process.execPath, [script, tarball, unpacked]));
  const missing = Object.entries(resolved).filter(([, ok]) => !ok);
  const problems = [...publint, ...types, ...missing.map(([place]) => `${place}: no types`)];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return `${name}: publint and are-the-types-wrong found no problems, ${Object.keys(resolved).length} ways to import`;
}

/**
 * Writes an SBOM of the packages that installing the core brings, from the lock file. Uses a reduced copy of the
 * manifest, because `npm sbom --omit dev` in this folder also omits dependencies that a development dependency needs.
 * Peer dependencies belong to the user.
 */
function writeSbom(folder) {
  const place = path.join(folder, 'sbom', manifest.name);
  fs.mkdirSync(place, { recursive: true });
  const { name, version, description, license, dependencies } = manifest;
  const own = { name, version, description, license, dependencies };
  fs.writeFileSync(path.join(place, 'package.json'), JSON.stringify(own));
  fs.copyFileSync(path.join(root, 'package-lock.json'), path.join(place, 'package-lock.json'));
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund'];
  npm(['install', '--package-lock-only', '--offline', ...quiet], { cwd: place });
  const text = npm(['sbom', '--package-lock-only', '--omit', 'dev', '--sbom-format', 'cyclonedx'], {
    cwd: place,
  });
  const listed = new Set(JSON.parse(text).components.map((one) => one.name));
  const lacking = Object.keys(dependencies).filter((one) => !listed.has(one));
  if (lacking.length > 0) throw new Error(`the SBOM does not contain ${lacking.join(', ')}`);
  const file = path.join(folder, `${name}-${version}.cdx.json`);
  fs.writeFileSync(file, text);
  return `CycloneDX, ${listed.size} packages\n${file}`;
}

function checkProvenance() {
  const problems = packageFolders().flatMap((folder) => {
    const { name, ...rest } = readManifest(folder);
    return provenanceProblems(rest).map((problem) => `${name}: ${problem}`);
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return 'publishConfig.provenance and repository are set';
}

/** Runs a step and prints its result. Returns undefined if it failed, or if a step that it needs failed. */
function step(name, action) {
  try {
    const result = action();
    const said = typeof result === 'string' ? result : '';
    console.log(`ok      ${name}${said === '' ? '' : `: ${said.replaceAll('\n', '\n        ')}`}`);
    return result;
  } catch (error) {
    process.exitCode = 1;
    console.log(`failed  ${name}: ${error.message.replaceAll('\n', '\n        ')}`);
    return undefined;
  }
}

function needed(value, what) {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}

function main() {
  const args = readArguments();
  const dryRun = args['dry-run'];
  if (!dryRun && !canAttest(process.env)) {
    step('publish', () => {
      throw new Error('refused: this is not a pipeline with an identity for provenance. Use --dry-run here');
    });
    return;
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `${manifest.name}-release-`));
  const changelog = fs.readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
  step('working tree', cleanTree);
  const plan = step('version', () =>
    planRelease({ changelog, current: manifest.version, asked: args.asked }),
  );
  if (plan !== undefined)
    console.log(`        ${plan.version}, ${plan.prepared ? 'as in' : 'after'} ${manifest.version}`);
  step('rule', () => needed(parseChangelog(changelog).rule ?? undefined, 'rule of versions in CHANGELOG.md'));
  if (args['with-suites']) step('suites', runSuites);
  else console.log(`not run suites: ${SUITES.map((suite) => `npm run ${suite}`).join(', ')}`);
  let packed;
  step('pack', () => {
    packed = packAll(folder, args.built);
    return packed.map(({ tarball }) => tarball).join('\n');
  });
  step('files', () => needed(packed, 'tarball').map(listFiles).join('\n'));
  step('package', () => needed(packed, 'tarball').map(validatePackage).join('\n'));
  step('packages', () => writeSbom(folder));
  step('provenance', checkProvenance);
  step('publish --dry-run', () => {
    for (const { tarball } of needed(packed, 'tarball'))
      npm(['publish', '--dry-run', '--ignore-scripts', tarball]);
    return 'npm accepts the tarballs';
  });
  if (dryRun) printNext(plan);
  else step('publish', () => publish(plan, packed));
}

/** Publishes a release if every step succeeded. */
function publish(plan, packed) {
  if (process.exitCode === 1) throw new Error('refused: a step failed');
  if (!plan.prepared)
    throw new Error(`refused: set the version ${plan.version} and its section in CHANGELOG.md first`);
  // The core first, because the companions depend on it.
  for (const { tarball } of packed)
    npm(['publish', '--provenance', '--ignore-scripts', tarball], { stdio: 'inherit' });
  return packed.map(({ name }) => `${name} ${plan.version}`).join(', ');
}

function printNext(plan) {
  if (plan === undefined) return;
  const { version, prepared } = plan;
  if (!prepared) {
    console.log(
      `\nFor the release commit: rename "## Unreleased" in CHANGELOG.md to "## ${version} - DATE", run`,
    );
    console.log(
      `npm version ${version} --no-git-tag-version --workspaces --include-workspace-root, set the same version`,
    );
    console.log('in src/domain/names.ts and wherever a package.json names one of our packages,');
    console.log('and update golden histories as CONTRIBUTING.md describes.');
  }
  console.log(`\nThen, in the repository's pipeline: npm run release -- --version ${version}`);
}

try {
  main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
