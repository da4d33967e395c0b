import { type Goal } from './goal';

type Cell = string | number;

/** What a run of one benchmark is kept as, in bench/results/NAME.json. */
export interface BenchResult {
  readonly v: 1;
  readonly name: string;
  readonly title: string;
  /** Small numbers: nothing to quote. */
  readonly quick: boolean;
  /** How long it took. */
  readonly seconds: number;
  readonly machine: {
    /** ISO 8601. */
    readonly date: string;
    readonly cores: number;
    readonly cpu: string;
    readonly memoryGiB: number;
    readonly platform: string;
    readonly node: string;
    readonly sdk: string;
    /** Null where no Temporal server took part. */
    readonly temporalServer: string | null;
    readonly commit: string;
    /** At the beginning. */
    readonly loadAverage: readonly number[];
  };
  readonly table: { readonly columns: readonly string[]; readonly rows: readonly (readonly Cell[])[] };
  readonly goals?: readonly Goal[];
  readonly notes?: readonly string[];
  /** The figures behind the table, as numbers. */
  readonly values: unknown;
}

export function resultText(result: BenchResult): string;
/** The first row is the head. */
export function markdownTable(rows: readonly (readonly Cell[])[]): string[];
