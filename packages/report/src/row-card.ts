import { type MoneyTotals, type CampaignRowResult, type RowOutcome } from 'temporal-media';
import { rowAdvice } from 'temporal-media/internal/domain/advice';
import { type CampaignRow, type LedgerLine, outcomeWords } from 'temporal-media/internal/domain/campaign/row';
import { failureRow } from 'temporal-media/internal/domain/failure-table';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { filled } from 'temporal-media/internal/domain/terminal-text';
import { type ReportRow, resultRecord } from './page-rows';

/** Maximum length of a prompt that is not collapsed, in characters. */
const SHOWN_PROMPT = 280;

/** Values for a card's template: plain text, never markup. */
export interface RowCard {
  readonly id: string;
  readonly outcome: string;
  readonly label: string;
  readonly tone: string;
  readonly model: string;
  readonly operation: string;
  readonly key: string;
  readonly line: number;
  readonly prompt: string | null;
  readonly promptStart: string | null;
  readonly video: { readonly path: string; readonly label: string } | null;
  readonly images: readonly { readonly path: string; readonly alt: string }[];
  /** Number of files that the store did not have. */
  readonly missing: number;
  /** Every second item in `todo` is code. */
  readonly trouble: { readonly meaning: string; readonly todo: readonly string[] } | null;
  readonly reason: string | null;
  readonly message: string | null;
  readonly cost: string;
  readonly costState: string;
  readonly facts: readonly Fact[];
  readonly more: readonly Fact[];
  readonly warnings: readonly string[];
}

interface Fact {
  readonly name: string;
  readonly value: string;
  /** Whether the value differs from the requested one. */
  readonly differs?: boolean;
}

const OPERATIONS = {
  create_video: 'Video',
  generate_image: 'Image',
  edit_image: 'Image edit',
} as const;

export function rowCard(
  row: ReportRow,
  planned: CampaignRow | undefined,
  id: string,
  { campaign, currency }: { readonly campaign: string; readonly currency: string | null },
): RowCard {
  const { result } = row;
  const { files, money } = resultRecord(row, currency);
  const prompt = planned?.call.request.prompt ?? null;
  const there = files.flatMap(({ path, mediaType }) => (path === null ? [] : [{ path, mediaType }]));
  const video = there.find(({ mediaType }) => mediaType.startsWith('video/'));
  const images = there.filter(({ mediaType }) => mediaType.startsWith('image/'));
  const why = trouble(result, campaign);
  const { label, tone } = outcomeWords(result.outcome);
  return {
    id,
    outcome: result.outcome,
    label,
    tone,
    model: result.model,
    operation: OPERATIONS[result.operation],
    key: result.key,
    line: result.line,
    prompt,
    promptStart:
      prompt !== null && prompt.length > SHOWN_PROMPT
        ? `${[...prompt.slice(0, SHOWN_PROMPT)].slice(0, -1).join('')}…`
        : null,
    video: video === undefined ? null : { path: href(video.path), label: `Video for ${result.key}` },
    images: images.map(({ path }, index) => ({
      path: href(path),
      alt: `Image ${index + 1} of ${images.length} for ${result.key}`,
    })),
    missing: files.length - there.length,
    trouble: why === null ? null : { meaning: why.meaning, todo: why.todo.split('`') },
    reason: result.reason ?? result.errorKind ?? null,
    message: result.message ?? null,
    ...cost(money, currency),
    facts: requestedAndReported(result),
    more: moreFacts(result, currency),
    warnings: result.warnings,
  };
}

/** Returns a path as a link. Safe names need no URL encoding, except possibly for `%`. */
function href(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function cost(money: MoneyTotals, currency: string | null): { cost: string; costState: string } {
  const parts = (
    [
      ['settled', money.settled],
      ['estimated', money.estimated],
      ['reserved', money.reserved],
      ['needs review', money.needsReview],
    ] as const
  ).filter(([, amount]) => amount !== 0);
  if (parts.length === 0) {
    if (money.unknown > 0) return { cost: 'Price unknown', costState: 'unknown' };
    const why =
      money.billed > 0
        ? `not charged, estimate ${moneyText(money.estimate, currency)}`
        : 'nothing was bought';
    return { cost: 'No cost', costState: why };
  }
  const sum = parts.reduce((total, [, amount]) => total + amount, 0);
  const states = [...parts.map(([name]) => name), ...(money.unknown > 0 ? ['unknown'] : [])];
  const expected = money.billed === 0 ? '' : `, estimate ${moneyText(money.estimate, currency)}`;
  return { cost: moneyText(sum, currency), costState: `${states.join(' + ')}${expected}` };
}

export function moneyText(microUnits: number, currency: string | null): string {
  return formatMoney({ microUnits, currency }).replace(/^-/, '−');
}

function requestedAndReported({ requested, reported, model }: CampaignRowResult): Fact[] {
  const pairs: [string, string | number | null, string | number | undefined, string][] = [
    ['Duration', requested.durationSeconds, reported?.durationSeconds, ' s'],
    ['Resolution', requested.resolution, reported?.resolution, ''],
    ['Model', model, reported?.model, ''],
  ];
  return pairs.flatMap(([name, asked, shown, unit]): Fact[] => {
    if (name === 'Model' && (shown === undefined || shown === asked)) return [];
    if (asked === null && shown === undefined) return [];
    if (shown === undefined) return [{ name, value: `${asked}${unit}` }];
    if (asked === null) return [{ name, value: `${shown}${unit} reported` }];
    return asked === shown
      ? [{ name, value: `${asked}${unit}` }]
      : [{ name, value: `${asked}${unit} requested, ${shown}${unit} reported`, differs: true }];
  });
}

function moreFacts(result: CampaignRowResult, currency: string | null): Fact[] {
  const { requested, reported, usage } = result;
  const known: [string, string | number | null | undefined][] = [
    ['Task', result.taskId],
    ['Line', result.line],
    ['References', requested.referenceMode === 'none' ? null : requested.referenceMode],
    ['Frames per second', reported?.fps],
    ['Account', result.account],
    ['HTTP status', result.httpStatus],
    ['Finished', timeText(result.finishedAt)],
    ['Duration', spanText(result.startedAt, result.finishedAt)],
    ['Polls', result.polls],
    ['Usage', usage === undefined ? null : JSON.stringify(usage)],
    ...result.ledger.map((line): [string, string] => [
      `Attempt ${line.attempt + 1}`,
      [
        line.state === 'none' ? 'nothing was accepted' : line.state.replace('_', ' '),
        line.state === 'none' ? null : attemptCost(line, currency),
        line.taskId,
      ]
        .filter((part) => part !== null)
        .join(' · '),
    ]),
  ];
  return known.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [{ name, value: String(value) }],
  );
}

function attemptCost({ estimate, actual }: LedgerLine, currency: string | null): string {
  if (estimate === null) return 'price unknown';
  const expected = moneyText(estimate, currency);
  return actual === null ? expected : `${moneyText(actual, currency)} billed, estimate ${expected}`;
}

/** Describes what happened to a row without a result, and what to do next in a campaign. Backticks enclose code. */
function trouble(
  result: CampaignRowResult,
  campaign: string,
): { readonly meaning: string; readonly todo: string } | null {
  const row = failureRow({
    outcome: result.outcome,
    ...(result.reason !== undefined && { reason: result.reason }),
    error: { kind: result.errorKind ?? 'unknown' },
  });
  const meaning = CAMPAIGN_MEANING[result.outcome] ?? row?.meaning;
  if (meaning === undefined) return null;
  return { meaning, todo: filled(rowAdvice(row?.type ?? result.outcome), { ID: campaign }) };
}

const CAMPAIGN_MEANING: { readonly [outcome in RowOutcome]?: string } = {
  skipped_budget: 'The budget was spent before this row was sent.',
  changed: 'The row was already bought with different text. Its earlier result is kept.',
};

/** Formats a time as `2026-11-21 19:04:05 UTC`. Returns null for null, and the text itself if it is not a time. */
export function timeText(iso: string | null): string | null {
  if (iso === null) return null;
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Formats a duration: `1 h 2 min`, `3 min 4 s`, `5.6 s`. Returns null if the start or the end is unknown. */
export function spanText(from: string | null, to: string | null): string | null {
  const ms = from === null || to === null ? NaN : Date.parse(to) - Date.parse(from);
  if (!(ms >= 0)) return null;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
