/** A figure beside what was hoped for. */
export interface Goal {
  readonly figure: string;
  readonly value: number;
  readonly unit: string;
  /** Like `<= 25`. */
  readonly goal: string;
  readonly met: boolean;
}

export function goal(
  figure: string,
  value: number,
  comparison: '<=' | '>=',
  limit: number,
  unit: string,
): Goal;
