import { type CommonOptions } from '../shared/context';

/** Options for `replay`. */
export interface ReplayOptions extends CommonOptions {
  readonly runId?: string;
  readonly query?: string;
  readonly allOpen?: boolean;
  readonly golden?: string;
  readonly workflowsPath?: string;
  readonly bundle?: string;
  readonly inspect?: string | true;
  readonly at?: string;
  readonly timeline?: boolean;
  readonly html?: string;
  readonly children?: boolean;
  readonly strictInputs?: boolean;
  readonly concurrency?: string;
  readonly whatif?: boolean;
  readonly speed?: string;
  readonly saveTest?: string;
  readonly utc?: boolean;
  readonly verbose?: boolean;
}

/** Options for `history export`. */
export interface ExportOptions extends CommonOptions {
  readonly runId?: string;
  readonly redact?: boolean;
  readonly keep?: string;
  readonly label?: string;
  readonly keepEncrypted?: boolean;
  readonly workflowsPath?: string;
  readonly bundle?: string;
}

/** Options for `history record`. */
export interface RecordOptions extends CommonOptions {
  readonly to: string;
  readonly query?: string;
  readonly redact?: boolean;
  readonly keep?: string;
  readonly label?: string;
  readonly workflowsPath?: string;
  readonly bundle?: string;
}
