import { SourceMap, type SourceMapPayload } from 'node:module';
import { basename } from 'node:path';

/** A place in the source of workflow code. */
export interface SourceLocation {
  /** As the source map of the bundle names it; code of this package as `temporal-media/src/…`. */
  readonly file: string;
  /** From 1 on. */
  readonly line: number;
  /** From 1 on. */
  readonly column: number;
  /** The function, where it has a name. */
  readonly in: string | null;
}

/** Code of the SDK and of the bundler, which no reader is looking for. */
const NOT_THEIRS = /(^|[\\/])node_modules[\\/]@temporalio[\\/]|(^|[\\/])webpack[\\/]/;

const FRAME = /^\s*at (?:(?:async )?(.+?) \()?(.+?):(\d+):(\d+)\)?$/;
const SOURCE_MAP = '\n//# sourceMappingURL=data:';

/** Finds the places of workflow code in stacks of a bundle, by its source map. */
export class SourceLocations {
  readonly #file: string;
  readonly #map: SourceMap;

  constructor(code: string) {
    const at = code.indexOf('base64,', code.lastIndexOf(SOURCE_MAP));
    const json = Buffer.from(code.slice(at + 'base64,'.length).trimEnd(), 'base64').toString();
    const payload = JSON.parse(json) as SourceMapPayload;
    this.#file = basename(payload.file);
    this.#map = new SourceMap(payload);
  }

  /** Innermost first. */
  of(stack: string): readonly SourceLocation[] {
    return stack.split('\n').flatMap((frame) => {
      const [, name, file, line, column] = FRAME.exec(frame) ?? [];
      // The SDK puts the file of the source map into the folder of the process.
      if (file === undefined || basename(file) !== this.#file) return [];
      const found = this.#map.findEntry(Number(line) - 1, Number(column) - 1);
      if (!('originalSource' in found) || NOT_THEIRS.test(found.originalSource)) return [];
      const { originalSource, originalLine, originalColumn } = found;
      return [
        {
          file: readable(originalSource),
          line: originalLine + 1,
          column: originalColumn + 1,
          in: name ?? null,
        },
      ];
    });
  }
}

/** Without what bundlers put before a path. */
const readable = (file: string): string => file.replace(/^webpack:\/\/[^/]*\//, '').replace(/^file:\/\//, '');
