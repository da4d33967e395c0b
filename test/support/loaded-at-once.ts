import { preProcessFile } from 'typescript';

/**
 * What a source loads at once, as it names it: without types and `import()`, which load nothing or later, and without what
 * a function requires when it is wanted.
 */
export function loadedAtOnce(text: string): readonly string[] {
  const values = text
    .replaceAll(/^import (?:type .*|\{(?:\s*type [^,}]+,?)+\s*\} from .*)$/gm, '')
    .replaceAll(/\bimport\(/g, 'later(');
  return preProcessFile(values, true, false).importedFiles.map(({ fileName }) => fileName);
}
