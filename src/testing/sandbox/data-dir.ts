import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SandboxCounters } from './counters';
import { type GeneratedFile } from './generated-files';
import { type SandboxTask, type SandboxTaskPatch } from './sandbox-task';

/** One line of `accepted.jsonl`: what must not be forgotten, written before the reply is sent. */
export type AcceptedLine =
  | { type: 'task'; task: SandboxTask }
  | { type: 'patch'; id: string; patch: SandboxTaskPatch }
  | {
      type: 'image';
      operation: 'generate' | 'edit';
      model: string;
      prompt: string;
      results: number;
      files: GeneratedFile[];
    };

/** The directory of a sandbox that outlives its process; without a path nothing is kept. */
export class DataDir {
  constructor(private readonly path: string | undefined) {
    if (path !== undefined) mkdirSync(path, { recursive: true });
  }

  /** The secret of signed links, so that links survive a restart. */
  secret(): string {
    const fresh = randomBytes(32).toString('hex');
    if (this.path === undefined) return fresh;
    const file = join(this.path, 'link-secret');
    if (!existsSync(file)) writeFileSync(file, fresh, { mode: 0o600 });
    return readFileSync(file, 'utf8');
  }

  append(line: AcceptedLine): void {
    if (this.path !== undefined)
      appendFileSync(join(this.path, 'accepted.jsonl'), `${JSON.stringify(line)}\n`);
  }

  /** All lines; a last line that a killed process left unfinished is skipped. */
  accepted(): AcceptedLine[] {
    return (this.read('accepted.jsonl') ?? '').split('\n').flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as AcceptedLine];
      } catch {
        return [];
      }
    });
  }

  saveCounters(counters: SandboxCounters): void {
    if (this.path === undefined) return;
    const file = join(this.path, 'counters.json');
    writeFileSync(`${file}.new`, JSON.stringify(counters));
    renameSync(`${file}.new`, file);
  }

  counters(): SandboxCounters | undefined {
    const text = this.read('counters.json');
    return text === undefined ? undefined : (JSON.parse(text) as SandboxCounters);
  }

  /** Forgets what was accepted and counted. */
  clear(): void {
    if (this.path === undefined) return;
    writeFileSync(join(this.path, 'accepted.jsonl'), '');
  }

  private read(name: string): string | undefined {
    if (this.path === undefined || !existsSync(join(this.path, name))) return undefined;
    return readFileSync(join(this.path, name), 'utf8');
  }
}
