'use strict';
// Bundles the workflow code for the package, so that workers of exactly this SDK start without bundling. Called by the
// build; does nothing when the bundle is up to date.
const { Buffer } = require('node:buffer');
const { randomUUID } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const SOURCE_MAP = '\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,';

async function buildWorkflowBundle() {
  const { SHIPPED_BUNDLE, shippedBundle } = require('../lib/workflow-bundle.js');
  if ('codePath' in (await shippedBundle())) return;
  const { packagedWorkflows } = require('../lib/packaged-workflows.js');
  const { sdkVersions, workflowDigest } = require('../lib/workflow-digest.js');
  const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker');
  const manifest = { v: 1, sdk: await sdkVersions(), digest: await workflowDigest() };
  const { code } = await bundleWorkflowCode({
    workflowsPath: packagedWorkflows(),
    logger: new DefaultLogger('ERROR'),
  });
  fs.mkdirSync(SHIPPED_BUNDLE, { recursive: true });
  // First: a build that is killed between the two writes leaves no manifest of other code.
  fs.rmSync(path.join(SHIPPED_BUNDLE, 'manifest.json'), { force: true });
  write(path.join(SHIPPED_BUNDLE, 'workflows.js'), portable(code));
  // Last: what has a manifest is whole.
  write(path.join(SHIPPED_BUNDLE, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The same code with a source map that names no place of this machine, and without the sources: they are published. */
function portable(bundle) {
  const at = bundle.lastIndexOf('//# sourceMappingURL=data:');
  const map = JSON.parse(Buffer.from(bundle.slice(bundle.indexOf('base64,', at) + 7), 'base64').toString());
  map.sources = map.sources.map(publicName);
  delete map.sourcesContent;
  const portable = `${bundle.slice(0, at).trimEnd()}${SOURCE_MAP}${Buffer.from(JSON.stringify(map)).toString('base64')}`;
  if (portable.includes(root) || map.sources.some((name) => name.includes(root)))
    throw new Error('The bundle names a folder of this machine.');
  return portable;
}

/** `node_modules/…` for packages, `temporal-media/…` for our own code; what the bundler made keeps its name. */
function publicName(source) {
  const dependency = source.lastIndexOf('node_modules/');
  if (dependency >= 0) return source.slice(dependency);
  return source.startsWith(root) ? path.posix.join('temporal-media', source.slice(root.length)) : source;
}

/** Complete or absent, for workers that start meanwhile. */
function write(file, text) {
  const draft = `${file}.${randomUUID()}`;
  fs.writeFileSync(draft, text);
  fs.renameSync(draft, file);
}

module.exports = { buildWorkflowBundle };
