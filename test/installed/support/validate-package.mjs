// What publint and are-the-types-wrong say of a package, as JSON. Both are ESM only, which jest does not load.
// Usage: node validate-package.mjs TARBALL UNPACKED_DIR
import { readFile } from 'node:fs/promises';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const [tarball, pkgDir] = process.argv.slice(2);
const manifest = JSON.parse(await readFile(`${pkgDir}/package.json`, 'utf8'));
const { messages } = await publint({ pkgDir, pack: false, strict: true, level: 'suggestion' });
const types = await checkPackage(createPackageFromTarballData(await readFile(tarball)));
// A pattern names no file of its own.
const entries = Object.entries(types.entrypoints).filter(([subpath]) => !subpath.includes('*'));
const resolved = entries.flatMap(([subpath, { resolutions }]) =>
  Object.entries(resolutions).map(([mode, { resolution }]) => [
    `${subpath} ${mode}`,
    resolution?.isTypeScript === true || resolution?.isJson === true,
  ]),
);
process.stdout.write(
  JSON.stringify({
    publint: messages.map(
      (one) => `${one.type}: ${formatMessage(one, manifest, { color: false }) ?? one.code}`,
    ),
    types: types.problems.map(({ kind, ...where }) => `${kind} ${JSON.stringify(where)}`),
    resolved: Object.fromEntries(resolved),
  }),
);
