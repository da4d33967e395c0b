import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from '@temporalio/worker';

const ROOT = path.resolve(__dirname, '..', '..');

/** One careless change: `find` stands once in the file, and has no line break. */
export interface Change {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Every place, not only one. */
  readonly all?: boolean;
  /** An import that the change needs, which may stand at the end. */
  readonly imports?: string;
}

export interface BrokenCopy {
  readonly bundle: WorkflowBundle;
  /** Line of the changed file on which this text begins, from 1 on. */
  lineOf(file: string, text: string): number;
}

/** Today's workflow code with changes in it, as a bundle. Changes keep the lines of everything else. */
export async function brokenCopy(changes: readonly Change[]): Promise<BrokenCopy> {
  const folder = mkdtempSync(path.join(tmpdir(), 'temporal-media-broken-'));
  const texts = new Map<string, string>();
  try {
    for (const part of ['workflows', 'domain'])
      cpSync(path.join(ROOT, 'src', part), path.join(folder, 'src', part), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
    for (const { file, find, replace, all = false, imports = '' } of changes) {
      const place = path.join(folder, 'src', file);
      const text = texts.get(file) ?? readFileSync(place, 'utf8');
      const found = text.split(find).length - 1;
      if (found === 0 || (found > 1 && !all)) throw new Error(`${file} has ${found} of: ${find}`);
      const missing = text.includes(imports) ? '' : imports;
      const changed = text.split(find).join(replace) + missing;
      texts.set(file, changed);
      writeFileSync(place, changed);
    }
    const workflowsPath = path.join(folder, 'src', 'workflows', 'index.ts');
    const bundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    return {
      bundle,
      lineOf(file, part) {
        const text = texts.get(file) ?? readFileSync(path.join(ROOT, 'src', file), 'utf8');
        const at = text.indexOf(part);
        if (at === -1) throw new Error(`${file} has no: ${part}`);
        return text.slice(0, at).split('\n').length;
      },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
