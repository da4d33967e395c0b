'use strict';
// Bundles the workflow code for the package, so that workers of exactly this SDK start without bundling, and removes what
// no worker reads of it: comments, white space, long names of local variables (ADR 24). Called by the build; does nothing
// when the bundle is up to date.
const { Buffer } = require('node:buffer');
const { randomUUID } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const NAMES_A_FOLDER = 'The bundle names a folder of this machine.';
const SOURCE_MAP = '\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,';

async function buildWorkflowBundle() {
  const { SHIPPED_BUNDLE, shippedBundle, sdkVersions, workflowDigest } = require('../lib/workflow-bundle.js');
  if ('codePath' in (await shippedBundle())) return;
  const { packagedWorkflows } = require('../lib/installation.js');
  const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker');
  const manifest = { v: 1, sdk: await sdkVersions(), digest: await workflowDigest() };
  const { code } = await bundleWorkflowCode({
    workflowsPath: packagedWorkflows(),
    logger: new DefaultLogger('ERROR'),
  });
  fs.mkdirSync(SHIPPED_BUNDLE, { recursive: true });
  // First: a build that is killed between the two writes leaves no manifest of other code.
  fs.rmSync(path.join(SHIPPED_BUNDLE, 'manifest.json'), { force: true });
  write(path.join(SHIPPED_BUNDLE, 'workflows.js'), await shippedForm(code));
  // Last: what has a manifest is whole.
  write(path.join(SHIPPED_BUNDLE, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * A bundle in the form in which it is shipped: half of the bytes, and a source map that names no place of this machine.
 * No statement is changed, and functions and classes keep their names: stack traces show them, and errors are told apart
 * by them.
 */
async function shippedForm(bundle) {
  const { transform } = require('@swc/core');
  const at = bundle.lastIndexOf(SOURCE_MAP.slice(0, SOURCE_MAP.indexOf(':') + 1));
  const { code, map } = await transform(bundle.slice(0, at), {
    configFile: false,
    swcrc: false,
    isModule: false,
    minify: true,
    sourceMaps: true,
    inputSourceMap: Buffer.from(bundle.slice(bundle.indexOf('base64,', at) + 7), 'base64').toString(),
    jsc: {
      target: 'es2022',
      parser: { syntax: 'ecmascript' },
      minify: {
        compress: false,
        mangle: { keep_classnames: true, keep_fnames: true },
        format: { comments: false },
      },
    },
  });
  if (code.includes(root)) throw new Error(NAMES_A_FOLDER);
  return `${code.trimEnd()}${SOURCE_MAP}${Buffer.from(portable(JSON.parse(map))).toString('base64')}`;
}

/** The source map without the sources, which are published, and without any place of this machine. */
function portable({ sourcesContent: _published, ...map }) {
  const sources = map.sources.map(publicName);
  if (sources.some((name) => name.includes(root))) throw new Error(NAMES_A_FOLDER);
  return JSON.stringify({ ...map, sources });
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

module.exports = { buildWorkflowBundle, shippedForm };
