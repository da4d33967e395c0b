import { formatMoney } from '../domain/price';
import { type CampaignRow, type CampaignRowResult } from '../domain/campaign/row';
import { type MoneyTotals } from '../domain/campaign/results';
import { OUTCOME_WORDS, trouble } from './outcome-words';
import { type ReportRow } from './page-rows';
import { resultRecord } from './result-record';
import { spanText, timeText } from './time-text';

/** A prompt that is longer is folded, in characters. */
const SHOWN_PROMPT = 280;

/** What the template of a card shows: texts only, nothing in it is markup. */
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
  /** Files that the store could not give. */
  readonly missing: number;
  /** `todo`: every second part is code. */
  readonly trouble: { readonly meaning: string; readonly todo: readonly string[] } | null;
  readonly reason: string | null;
  readonly message: string | null;
  readonly cost: string;
  readonly costState: string;
  readonly facts: readonly Fact[];
  readonly more: readonly Fact[];
  readonly warnings: readonly string[];
}

export interface Fact {
  readonly name: string;
  readonly value: string;
  /** Another value than was requested. */
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
  currency: string | null,
): RowCard {
  const { result } = row;
  const { files, money } = resultRecord(row, currency);
  const prompt = planned?.call.request.prompt ?? null;
  const there = files.flatMap(({ path, mediaType }) => (path === null ? [] : [{ path, mediaType }]));
  const video = there.find(({ mediaType }) => mediaType.startsWith('video/'));
  const images = there.filter(({ mediaType }) => mediaType.startsWith('image/'));
  const why = trouble(result);
  const { label, tone } = OUTCOME_WORDS[result.outcome];
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
    video: video === undefined ? null : { path: href(video.path), label: `Video of ${result.key}` },
    images: images.map(({ path }, index) => ({
      path: href(path),
      alt: `Image ${index + 1} of ${images.length} of ${result.key}`,
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

/** A path of ours in a link: safe names hold nothing that a URL would read otherwise, but for `%` nothing is certain. */
function href(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function cost(money: MoneyTotals, currency: string | null): { cost: string; costState: string } {
  const parts = (
    [
      ['settled', money.settled],
      ['reserved', money.reserved],
      ['needs review', money.needsReview],
    ] as const
  ).filter(([, amount]) => amount !== 0);
  if (parts.length === 0)
    return money.unknown > 0
      ? { cost: 'Price unknown', costState: 'unknown' }
      : { cost: 'No cost', costState: 'nothing was bought' };
  const sum = parts.reduce((total, [, amount]) => total + amount, 0);
  const states = [...parts.map(([name]) => name), ...(money.unknown > 0 ? ['unknown'] : [])];
  return { cost: moneyText(sum, currency), costState: states.join(' + ') };
}

export function moneyText(microUnits: number, currency: string | null): string {
  if (microUnits < 0) return `−${moneyText(-microUnits, currency)}`;
  return formatMoney({ microUnits, currency: currency ?? '' }).trim();
}

function requestedAndReported({ requested, reported, model }: CampaignRowResult): Fact[] {
  const pairs: [string, string | number | null, string | number | undefined, string][] = [
    ['Duration', requested.durationSeconds, reported?.durationSeconds, ' s'],
    ['Resolution', requested.resolution, reported?.resolution, ''],
    ['Model', model, reported?.model, ''],
  ];
  return pairs.flatMap(([name, asked, told, unit]): Fact[] => {
    if (name === 'Model' && (told === undefined || told === asked)) return [];
    if (asked === null && told === undefined) return [];
    if (told === undefined) return [{ name, value: `${asked}${unit}` }];
    if (asked === null) return [{ name, value: `${told}${unit} reported` }];
    return asked === told
      ? [{ name, value: `${asked}${unit}` }]
      : [{ name, value: `${asked}${unit} requested, ${told}${unit} reported`, differs: true }];
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
    ['Took', spanText(result.startedAt, result.finishedAt)],
    ['Polls', result.polls],
    ['Usage', usage === undefined ? null : JSON.stringify(usage)],
    ...result.ledger.map((line): [string, string] => [
      `Attempt ${line.attempt + 1}`,
      [
        line.state === 'none' ? 'nothing was accepted' : line.state.replace('_', ' '),
        line.state === 'none'
          ? null
          : line.estimate === null
            ? 'price unknown'
            : moneyText(line.estimate, currency),
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
