import { visible } from 'temporal-media/internal/domain/terminal-text';
import { TONES } from 'temporal-media/internal/html/page-assets';
import { rowCause } from './campaign-rows';
import {
  SPENT,
  type EventIds,
  type Timeline,
  type TimelineEntry,
  type TimelineRow,
  type Tone,
} from './timeline';
import { counted, hanging, shownSpan } from './values';
import { moneySummaryText, sendsText } from './workflow-entries';

/** Applies a style to text. The style names are the CLI's. */
export type TextPaint = (tone: 'good' | 'bad' | 'warn' | 'note', text: string) => string;

/** How a timeline is laid out as text. */
export interface TimelineTextOptions {
  /** Width in columns. With `Infinity`, as for a file or a pipe, nothing is wrapped or cut. @default 80 */
  readonly width?: number;
  /** Shows times in UTC instead of this machine's time zone. @default false */
  readonly utc?: boolean;
  /** @default no colors */
  readonly paint?: TextPaint;
}

/** Maximum number of campaign rows that the text lists. */
const MAX_ROWS = 20;
/** Maximum and minimum bar length. */
const BARS = [24, 6] as const;

/** Returns the timeline as text for a terminal, without a trailing newline. */
export function timelineText(timeline: Timeline, options: TimelineTextOptions = {}): string {
  const width = Math.max(40, options.width ?? 80);
  const paint = options.paint ?? ((_tone, text) => text);
  const page = new Page(withVisibleTexts(timeline), { width, paint, utc: options.utc === true });
  return [
    ...page.head(),
    '',
    ...page.entries(),
    ...page.rows(),
    ...page.children(),
    '',
    ...page.spent(),
  ].join('\n');
}

/**
 * Makes control characters visible. Ids, keys and service text may contain terminal control characters or line breaks.
 */
function withVisibleTexts<T>(value: T): T {
  const clean = (inner: unknown): unknown => {
    if (typeof inner === 'string') return visible(inner);
    if (Array.isArray(inner)) return inner.map(clean);
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, clean(one)]));
  };
  return clean(value) as T;
}

const MARKS: { readonly [tone in Tone]: string } = { plain: ' ', good: '+', wait: '~', bad: '!' };

class Page {
  private readonly startedAt: number;
  private readonly width: number;
  private readonly paint: TextPaint;
  private readonly utc: boolean;
  /** Width of the column with event ids. */
  private readonly idsWidth: number;

  constructor(
    private readonly timeline: Timeline,
    { width, paint, utc }: Required<TimelineTextOptions>,
  ) {
    this.startedAt = Date.parse(timeline.startedAt ?? '') || 0;
    this.width = width;
    this.paint = paint;
    this.utc = utc;
    this.idsWidth = Math.min(
      10,
      Math.max(0, ...timeline.entries.map(({ events }) => this.ids(events).length)),
    );
  }

  head(): string[] {
    const { timeline } = this;
    const { workflowType, workflowId, outcome, runs, startedAt, polls, parent } = timeline;
    const events = runs.reduce((sum, run) => sum + run.events, 0);
    const until = timeline.readAt ?? timeline.lastEventAt;
    const took = shownSpan(Date.parse(until ?? '') - this.startedAt || 0);
    const facts: (readonly [name: string, value: string | null])[] = [
      [
        'outcome',
        outcome === null
          ? timeline.readAt === null
            ? 'none yet: the history ends before the outcome'
            : 'none yet: still running'
          : this.toned(outcomeTone(timeline), outcome),
      ],
      ['', timeline.advice],
      [
        'time',
        startedAt === null
          ? null
          : `${this.moment(startedAt)} to ${this.clock(until ?? startedAt)} (${took})`,
      ],
      ['history', `${counted(events, 'event')} in ${counted(runs.length, 'run')}`],
      ['parent', parent?.workflowId ?? null],
      ['task', timeline.taskId],
      ['model', timeline.model],
      ['account', timeline.account],
      ['key', timeline.creationKey],
      ['sends', sendsText(timeline)],
      ['money', moneySummaryText(timeline.money)],
      ['polls', polls.count === 0 ? null : pollsText(timeline)],
      ['deadline', timeline.deadlineAt === null ? null : this.clock(timeline.deadlineAt)],
    ];
    const lines = facts.flatMap(([name, value]) => (value === null ? [] : this.fact(name, value)));
    return [this.paint('note', `${workflowType} ${workflowId}`), ...lines];
  }

  private fact(name: string, value: string): string[] {
    return this.hanging(`  ${name.padEnd(10)}`, value);
  }

  /** Each day except the first begins with a date line. */
  entries(): string[] {
    let day = this.timeline.startedAt === null ? '' : wallClock(this.timeline.startedAt, this.utc).date;
    return this.timeline.entries.flatMap((entry) => {
      const { date, time } = wallClock(entry.at, this.utc);
      const isNext = date !== day;
      day = date;
      return [
        ...(isNext ? [this.paint('note', `${' '.repeat(11)}${date}`)] : []),
        ...this.entry(entry, time),
      ];
    });
  }

  private entry({ at, tone, text, events }: TimelineEntry, time: string): string[] {
    const offset = offsetText(Date.parse(at) - this.startedAt).padStart(9);
    const ids = this.ids(events).padEnd(this.idsWidth);
    const lines = this.hanging(`${offset}  ${time}  ${ids} ${MARKS[tone]} `, text);
    return tone === 'plain' ? lines : lines.map((line) => this.toned(tone, line));
  }

  private ids(events: readonly EventIds[]): string {
    return eventText(events, this.timeline.runs.length > 1);
  }

  private moment(iso: string): string {
    const { date, time } = wallClock(iso, this.utc);
    return `${date} ${time}`;
  }

  private clock(iso: string): string {
    return `${this.moment(iso)} ${wallClock(iso, this.utc).zone}`;
  }

  /** Incomplete rows come first. */
  rows(): string[] {
    const { rows } = this.timeline;
    if (rows.length === 0) return [];
    const sorted = [...rows].sort((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone));
    const shown = sorted.slice(0, MAX_ROWS);
    const keys = Math.min(24, Math.max(...shown.map(({ key }) => key.length)));
    const table = shown.flatMap((row) => this.row(row, keys));
    const left = rows.length - shown.length;
    const more = left > 0 ? [`  ${counted(left, 'row')} not shown: -o json and --html list all rows`] : [];
    return ['', `Rows (${rows.length})`, ...table, ...more];
  }

  private row(row: TimelineRow, keys: number): string[] {
    const { key, state, taskId, creates, polls, tone } = row;
    const cause = rowCause(row);
    const why = cause === null ? '' : `: ${cause}`;
    const text = `${state.replaceAll('_', ' ')}${why}; ${counted(creates, 'create')}, ${counted(polls, 'poll')}${taskId === null ? '' : `, task ${taskId}`}`;
    return this.hanging(`  ${MARKS[tone]} ${key.padEnd(keys)} `, text).map((line) => this.toned(tone, line));
  }

  children(): string[] {
    const { children } = this.timeline;
    if (children.length === 0) return [];
    const lines = children.flatMap((child) => {
      const events = child.runs.reduce((sum, run) => sum + run.events, 0);
      const text = `${child.workflowId}: ${child.outcome ?? 'open'}, ${counted(events, 'event')}, ${counted(child.rows.length, 'row')}`;
      return this.hanging('  ', text).map((line) => this.toned(outcomeTone(child), line));
    });
    return ['', `Children (${children.length})`, ...lines];
  }

  spent(): string[] {
    const { spent } = this.timeline;
    const whole = spent.reduce((sum, { ms }) => sum + ms, 0);
    if (whole === 0) return [];
    const longest = Math.max(...spent.map(({ on }) => SPENT[on].length));
    const spans = spent.map(({ ms }) => shownSpan(ms));
    const room = this.width - longest - Math.max(...spans.map((span) => span.length)) - 12;
    const full = Math.max(BARS[1], Math.min(BARS[0], room));
    const bars = spent.map(({ on, ms }, index) => {
      const share = ms / whole;
      const bar = '█'.repeat(Math.max(1, Math.round(share * full))).padEnd(full);
      const percent = share < 0.01 ? '<1' : String(Math.round(share * 100));
      return `  ${SPENT[on].padEnd(longest)}  ${this.paint('note', bar)} ${percent.padStart(3)}%  ${spans[index]}`;
    });
    return [`Where the time went (${shownSpan(whole)})`, ...bars];
  }

  private toned(tone: Tone, text: string): string {
    if (tone === 'plain') return text;
    return this.paint(tone === 'wait' ? 'warn' : tone, text);
  }

  private hanging(head: string, text: string): string[] {
    return hanging(head, text, this.width);
  }
}

function outcomeTone({ entries }: Timeline): Tone {
  return entries.findLast(({ kind }) => kind === 'ended')?.tone ?? 'plain';
}

function pollsText({ polls }: Timeline): string {
  const { count, longestGapMs, errors, changes, changesLeftOut } = polls;
  const gap = longestGapMs === null ? '' : `, longest gap ${shownSpan(longestGapMs)}`;
  const failed = Object.entries(errors).map(([name, times]) => `${times} ${name}`);
  const seen = changes.length + changesLeftOut;
  return `${count.toLocaleString('en-US')}${gap}; ${counted(seen, 'change')}${failed.length === 0 ? '' : `; errors: ${failed.join(', ')}`}`;
}

/** Returns event ids as `5-23`, or as `2:5-23` with the run number if there are several runs. */
export function eventText(events: readonly EventIds[], hasRuns: boolean): string {
  return events
    .map(({ run, ids }) => {
      const first = ids[0] ?? 0;
      const last = ids.at(-1) ?? first;
      return `${hasRuns ? `${run + 1}:` : ''}${first === last ? first : `${first}-${last}`}`;
    })
    .join(' ');
}

/** `+0:07.3`, `+12:45`, `+3:02:45`, `+2d 3:02`. */
export function offsetText(ms: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const seconds = ms / 1000;
  if (seconds < 60) return `+${seconds.toFixed(1)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `+${minutes}:${two(seconds % 60)}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `+${hours}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `+${Math.floor(hours / 24)}d ${hours % 24}:${two(minutes % 60)}`;
}

/** Returns the date, the time of day and their zone: `UTC`, `UTC+01:00`. */
function wallClock(
  iso: string,
  utc: boolean,
): { readonly date: string; readonly time: string; readonly zone: string } {
  const at = new Date(iso);
  const east = utc ? 0 : -at.getTimezoneOffset();
  const [date = '', time = ''] = new Date(at.getTime() + east * 60_000).toISOString().split('T');
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const ahead = Math.abs(east);
  const zone = east === 0 ? '' : `${east < 0 ? '-' : '+'}${two(ahead / 60)}:${two(ahead % 60)}`;
  return { date, time: time.slice(0, 8), zone: `UTC${zone}` };
}
