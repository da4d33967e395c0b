import { type ReportFacts } from './report-options';

/** Facts of a campaign with the number of the plan that they are about. */
export interface ToldFacts {
  readonly generation: number;
  readonly facts: ReportFacts;
}

/** Whether `a` tells of the same or a later state than `b`. */
export function isNewer(a: ToldFacts, b: ToldFacts | null): boolean {
  if (b === null) return true;
  if (a.generation !== b.generation) return a.generation > b.generation;
  return Date.parse(a.facts.asOf) >= Date.parse(b.facts.asOf);
}
