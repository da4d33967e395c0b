import { type CommandErrorType, errorType } from '../error-types';
import { type Facts } from './facts';

/** Names of the checks as scripts read them. */
export type CheckName =
  | 'node'
  | 'sdk'
  | 'settings'
  | 'temporal'
  | 'namespace'
  | 'workers'
  | 'models'
  | 'proxy'
  | 'service'
  | 'artifacts'
  | 'journal'
  | 'binding'
  | 'waiting';

/**
 * What one check found.
 * - `ok`: nothing in the way.
 * - `warning`: a video can be made, but something deserves a look.
 * - `failed`: no video can be made before the remedy.
 * - `skipped`: not looked at, because of the check that `dependsOn` names, or because only a worker's machine knows.
 */
export type Finding =
  | { readonly state: 'ok'; readonly message: string }
  | { readonly state: 'warning'; readonly message: string; readonly remedy: string }
  | {
      readonly state: 'failed';
      readonly message: string;
      readonly remedy: string;
      readonly errorType: CommandErrorType;
    }
  | { readonly state: 'skipped'; readonly message: string; readonly dependsOn?: CheckName };

export type CheckReport = Finding & { readonly name: CheckName };

/** One thing that must be right before a video can be made. */
export interface Check {
  readonly name: CheckName;
  /** What people read. */
  readonly title: string;
  /** Checks that must not have failed, nor been skipped, before this one makes sense. */
  readonly after: readonly CheckName[];
  /** Only where the settings of a worker are known (MEDIA_BASE_URL, the key). */
  readonly workerSide?: true;
  /** Longest time in milliseconds: what hangs counts as failed. */
  readonly limitMs: number;
  /** What no answer within that time means. */
  readonly late: CommandErrorType;
  /** Free of charge and without a trace: never a paid call, never a new file or folder that stays. */
  run(facts: Facts): Promise<Finding>;
}

export function ok(message: string): Finding {
  return { state: 'ok', message };
}

export function warning(message: string, remedy: string): Finding {
  return { state: 'warning', message, remedy };
}

/** @param remedy what is more exact than the hint of the registry */
export function failed(type: CommandErrorType, message: string, remedy = errorType(type).hint): Finding {
  return { state: 'failed', message, remedy, errorType: type };
}

export function skipped(dependsOn: CheckName): Finding {
  return { state: 'skipped', message: `Not looked at: \`${dependsOn}\` comes first.`, dependsOn };
}
