'use strict';
// Decides about a release from the sections of CHANGELOG.md, the next version, and the settings that provenance needs.

/** Sections that contain more than fixes. */
const MORE_THAN_FIXES = /^(?:Added|Changed|Deprecated|Removed)\b/;
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

/** Returns the versioning rule, and each section with the number of entries under each of its headings. */
function parseChangelog(text) {
  const [head, ...parts] = text.split(/^## /m);
  const sections = parts.map((part) => {
    const [title = '', ...lines] = part.split('\n');
    const entries = {};
    let heading = '';
    for (const line of lines) {
      if (line.startsWith('### ')) heading = line.slice(4).trim();
      else if (line.startsWith('- ')) entries[heading] = (entries[heading] ?? 0) + 1;
    }
    const [name = '', date] = title.trim().split(' - ');
    return { name: name.replace(/^\[|\]$/g, ''), date: date ?? null, entries };
  });
  const rule = head.split('\n').find((line) => /major release/.test(line)) ?? null;
  return { rule, sections };
}

function numbersOf(version) {
  const match = VERSION.exec(version);
  if (match === null) throw new Error(`${version} is not a version of the form X.Y.Z.`);
  return match.slice(1).map(Number);
}

function compareVersions(a, b) {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const place = left.findIndex((number, i) => number !== right[i]);
  return place === -1 ? 0 : left[place] - right[place];
}

/**
 * Returns the version after `current` that `asked` requests: X.Y.Z itself, or one step of `patch`, `minor` or `major`.
 */
function nextVersion(current, asked) {
  const [major, minor, patch] = numbersOf(current);
  if (asked === 'major') return `${major + 1}.0.0`;
  if (asked === 'minor') return `${major}.${minor + 1}.0`;
  if (asked === 'patch') return `${major}.${minor}.${patch + 1}`;
  numbersOf(asked);
  return asked;
}

/**
 * Returns the release's version, and whether its commit already exists: the package has the version, and the changelog
 * has its section. Throws if the version and the changelog do not match.
 */
function planRelease({ changelog, current, asked }) {
  const { sections } = parseChangelog(changelog);
  const [first, second] = sections;
  if (asked === undefined)
    throw new Error('Name the version: --version X.Y.Z, or one of patch, minor or major.');
  if (asked === current && first?.name === current && first.date !== null) {
    if (Object.keys(first.entries).length === 0) throw new Error(`The section ${current} has no entries.`);
    return { version: current, prepared: true };
  }
  if (first?.name !== 'Unreleased' || Object.keys(first.entries).length === 0)
    throw new Error('CHANGELOG.md has no section "## Unreleased" with entries.');
  if (second !== undefined && second.name !== current)
    throw new Error(
      `package.json has version ${current}, but the last section of CHANGELOG.md is ${second.name}.`,
    );
  const version = nextVersion(current, asked);
  if (compareVersions(version, current) <= 0) throw new Error(`${version} is not newer than ${current}.`);
  const more = Object.keys(first.entries).filter((heading) => MORE_THAN_FIXES.test(heading));
  if (more.length > 0 && compareVersions(version, nextVersion(current, 'minor')) < 0)
    throw new Error(
      `${version} would be a patch, but the changelog has entries under ${more.join(' and ')}.`,
    );
  return { version, prepared: false };
}

/** Returns what a person must set in package.json before npm can attest where the package was built. */
function provenanceProblems(manifest) {
  const { repository, publishConfig } = manifest;
  const url = typeof repository === 'string' ? repository : repository?.url;
  return [
    ...(publishConfig?.provenance === true ? [] : ['publishConfig.provenance is not true']),
    ...(url === undefined || url === ''
      ? ['repository is missing. Set the address of the public repository, which npm compares']
      : []),
  ];
}

/** Whether this process runs where npm can get an identity for provenance. */
function canAttest(env) {
  const has = (name) => (env[name] ?? '') !== '';
  const github = env.GITHUB_ACTIONS === 'true' && has('ACTIONS_ID_TOKEN_REQUEST_URL');
  return github || (env.GITLAB_CI === 'true' && has('SIGSTORE_ID_TOKEN'));
}

module.exports = { canAttest, nextVersion, parseChangelog, planRelease, provenanceProblems };
