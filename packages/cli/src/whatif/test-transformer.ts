import { readFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';

/** Packages with which jest runs TypeScript. */
const TRANSFORMERS: readonly string[] = [
  'ts-jest',
  '@swc/jest',
  '@babel/preset-typescript',
  'esbuild-jest',
  '@sucrase/jest-plugin',
];

/** What a test in TypeScript needs, for people. */
export const TRANSFORMER_WORDS = 'a transformer of TypeScript (ts-jest, @swc/jest or another one)';

/**
 * What is missing where a test is saved: a `.ts` file in a project without a transformer is a syntax error for jest. Undefined where
 * nothing is. The project is every package.json from the folder of the file upwards.
 */
export async function missingTransformer(file: string): Promise<string | undefined> {
  if (extname(file) !== '.ts') return undefined;
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(otherwise(undefined));
    if (text !== undefined && packagesIn(text).some((name) => TRANSFORMERS.includes(name))) return undefined;
    if (folder === dirname(folder)) break;
  }
  return `no package.json above ${file} names ${TRANSFORMER_WORDS}, which jest needs for it: install one, or name a file that ends in .js.`;
}

function packagesIn(text: string): readonly string[] {
  try {
    const { dependencies, devDependencies } = JSON.parse(text) as { readonly [field: string]: object };
    return [...Object.keys(dependencies ?? {}), ...Object.keys(devDependencies ?? {})];
  } catch (error) {
    throwBug(error);
    return [];
  }
}
