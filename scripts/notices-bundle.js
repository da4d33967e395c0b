'use strict';
// Bundles the workflows of @temporal-media/notices, because bundling in a worker's process would delay its paid calls for
// seconds. Called by the build. Does nothing if the bundle is up to date.
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { shippedForm } = require('./workflow-bundle.js');

const lib = path.resolve(__dirname, '..', 'packages', 'notices', 'lib');
const folder = path.join(lib, 'workflow-bundle');

async function buildNoticesBundle() {
  const { shippedBundle, sdkVersions, workflowDigest } = require('../lib/workflow-bundle.js');
  const source = path.join(lib, 'workflows.js');
  const notices = createHash('sha256').update(fs.readFileSync(source)).digest('hex').slice(0, 16);
  const manifest = path.join(folder, 'manifest.json');
  // The core's digest is in the manifest too, because the core checks it.
  const isSame = () => JSON.parse(fs.readFileSync(manifest, 'utf8')).notices === notices;
  if ('codePath' in (await shippedBundle(folder)) && isSame()) return;
  const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker');
  const { code } = await bundleWorkflowCode({ workflowsPath: source, logger: new DefaultLogger('ERROR') });
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'workflows.js'), await shippedForm(code));
  // Written last, so that the bundle is complete if a manifest exists.
  const content = { v: 1, sdk: await sdkVersions(), digest: await workflowDigest(), notices };
  fs.writeFileSync(manifest, `${JSON.stringify(content, null, 2)}\n`);
}

module.exports = { buildNoticesBundle };
