'use strict';
// Bundles the workflow code for the package, so that workers with exactly this SDK start without bundling. Removes what
// workers do not read: comments, white space and long local variable names (ADR 24). Called by the build. Does nothing
// if the bundle is up to date.
const { Buffer } = require('node:buffer');
const { randomUUID } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const NAMES_A_FOLDER = 'The bundle contains a path of this machine.';
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
  // Removed first, so that a build killed between the two writes does not leave a manifest for other code.
  fs.rmSync(path.join(SHIPPED_BUNDLE, 'manifest.json'), { force: true });
  write(path.join(SHIPPED_BUNDLE, 'workflows.js'), await shippedForm(code));
  // Written last, so that the bundle is complete if a manifest exists.
  write(path.join(SHIPPED_BUNDLE, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * Returns a bundle in its shipped form: half the size, and with a source map without local paths. Statements do not
 * change, and functions and classes keep their names, because stack traces show them and errors are distinguished by
 * them.
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

/** Returns the source map without the sources, which are published, and without local paths. */
function portable({ sourcesContent: _published, ...map }) {
  const sources = map.sources.map(publicName);
  if (sources.some((name) => name.includes(root))) throw new Error(NAMES_A_FOLDER);
  return JSON.stringify({ ...map, sources });
}

/**
 * Returns `node_modules/…` for packages and `temporal-media/…` for our own code. The bundler's own modules keep their
 * names.
 */
function publicName(source) {
  const dependency = source.lastIndexOf('node_modules/');
  if (dependency >= 0) return source.slice(dependency);
  return source.startsWith(root) ? path.posix.join('temporal-media', source.slice(root.length)) : source;
}

/** Writes a file atomically, because workers may be starting. */
function write(file, text) {
  const draft = `${file}.${randomUUID()}`;
  fs.writeFileSync(draft, text);
  fs.renameSync(draft, file);
}

module.exports = { buildWorkflowBundle, shippedForm };
