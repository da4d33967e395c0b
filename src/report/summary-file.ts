import { type ReportFacts } from './report-options';

/** Text of `summary.json`: what the campaign came to, for programs. Money is in micro-units of its currency. */
export function summaryJson(
  generation: number,
  facts: ReportFacts,
  files: { readonly rows: number; readonly missing: number },
): string {
  const { campaign, state, asOf, startedAt, finishedAt, counts, remaining, notes, plan } = facts;
  const summary = {
    v: 1,
    campaign,
    state,
    asOf,
    startedAt,
    finishedAt,
    generation,
    /** Rows in the tables; the campaign may have counted more by then. */
    rows: files.rows,
    counts,
    remaining,
    money: { currency: facts.currency, ...facts.money },
    budget: facts.budget,
    plan:
      plan === null
        ? null
        : {
            generation: plan.generation,
            manifest: plan.manifest,
            rows: plan.rows,
            planned: plan.planned,
            done: plan.done,
            left: plan.left,
            invalid: plan.invalid,
            changed: plan.changed.rows,
            currency: plan.currency,
            estimate: plan.estimate,
            unpriced: plan.unpriced,
            models: plan.models,
            refused: plan.refused ?? null,
          },
    issues: plan?.invalid ?? 0,
    filesMissing: files.missing,
    notes,
    files: { gallery: 'index.html', jsonl: 'results.jsonl', csv: 'results.csv', media: 'media/' },
  };
  return `${JSON.stringify(summary, null, 2)}\n`;
}
