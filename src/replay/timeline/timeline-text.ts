import { stripVTControlCharacters } from 'node:util';
import { visible } from '../../domain/visible';
import { shownSpan, counted } from './sizes';
import { moneyText, sendsText } from './workflow-entries';
import {
  SPENT,
  type EventIds,
  type Timeline,
  type TimelineEntry,
  type TimelineRow,
  type Tone,
} from './timeline';

/** How a text is coloured; the names are those of the command line. */
export type TextPaint = (tone: 'good' | 'bad' | 'warn' | 'note', text: string) => string;

/** How a timeline is laid out as text. */
export interface TimelineTextOptions {
  /** Columns. @default 80 */
  readonly width?: number;
  /** @default no colours */
  readonly paint?: TextPaint;
}

/** Largest number of rows of a campaign that the text lists. */
const MAX_ROWS = 20;
const BAR = 24;

/** The timeline for a terminal, without a trailing newline. */
export function timelineText(timeline: Timeline, options: TimelineTextOptions = {}): string {
  const width = Math.max(60, options.width ?? 80);
  const paint = options.paint ?? ((_tone, text) => text);
  const page = new Page(withVisibleTexts(timeline), width, paint);
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

/** Ids, keys and texts of services may hold what a terminal obeys, or begin another line. */
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

  constructor(
    private readonly timeline: Timeline,
    private readonly width: number,
    private readonly paint: TextPaint,
  ) {
    this.startedAt = Date.parse(timeline.startedAt ?? '') || 0;
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
            ? 'none yet: the history ends before it'
            : 'none yet: it runs'
          : this.toned(outcomeTone(timeline), outcome),
      ],
      ['', timeline.advice],
      [
        'time',
        startedAt === null ? null : `${clock(startedAt)} to ${clock(until ?? startedAt)} UTC (${took})`,
      ],
      ['history', `${counted(events, 'event')} in ${counted(runs.length, 'run')}`],
      ['parent', parent?.workflowId ?? null],
      ['task', timeline.taskId],
      ['model', timeline.model],
      ['account', timeline.account],
      ['key', timeline.creationKey],
      ['sends', sendsText(timeline)],
      ['money', moneyText(timeline.money)],
      ['polls', polls.count === 0 ? null : pollsText(timeline)],
      ['deadline', timeline.deadlineAt === null ? null : `${clock(timeline.deadlineAt)} UTC`],
    ];
    const lines = facts.flatMap(([name, value]) => (value === null ? [] : this.fact(name, value)));
    return [this.paint('note', `${workflowType} ${workflowId}`), ...lines];
  }

  private fact(name: string, value: string): string[] {
    return this.hanging(`  ${name.padEnd(10)}`, value);
  }

  entries(): string[] {
    return this.timeline.entries.flatMap((entry) => this.entry(entry));
  }

  private entry({ at, tone, text, events }: TimelineEntry): string[] {
    const offset = elapsed(Date.parse(at) - this.startedAt).padStart(9);
    const mark = MARKS[tone];
    const lines = this.hanging(
      `${offset}  ${eventText(events, this.timeline.runs.length > 1).padEnd(12)} ${mark} `,
      text,
    );
    return tone === 'plain' ? lines : lines.map((line) => this.toned(tone, line));
  }

  /** Rows that did not complete come first. */
  rows(): string[] {
    const { rows } = this.timeline;
    if (rows.length === 0) return [];
    const order: readonly Tone[] = ['bad', 'wait', 'plain', 'good'];
    const sorted = [...rows].sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
    const table = sorted.slice(0, MAX_ROWS).map((row) => this.row(row));
    const left = rows.length - table.length;
    const more =
      left > 0 ? [`  and ${counted(left, 'row')} more: -o json and the page of --html have all`] : [];
    return ['', `Rows (${rows.length})`, ...table, ...more];
  }

  private row({ key, state, taskId, creates, polls, reason, tone }: TimelineRow): string {
    const why = reason === null || reason === state ? '' : ` (${reason})`;
    const text = `${state}${why}, ${counted(creates, 'create')}, ${counted(polls, 'poll')}${taskId === null ? '' : `, task ${taskId}`}`;
    const line = `  ${MARKS[tone]} ${cut(key, 24).padEnd(24)} ${text}`;
    return this.toned(tone, cut(line, this.width));
  }

  children(): string[] {
    const { children } = this.timeline;
    if (children.length === 0) return [];
    const lines = children.map((child) => {
      const events = child.runs.reduce((sum, run) => sum + run.events, 0);
      return this.toned(
        outcomeTone(child),
        cut(
          `  ${child.workflowId}: ${child.outcome ?? 'open'}, ${counted(events, 'event')}, ${counted(child.rows.length, 'row')}`,
          this.width,
        ),
      );
    });
    return ['', `Children (${children.length})`, ...lines];
  }

  spent(): string[] {
    const { spent } = this.timeline;
    const whole = spent.reduce((sum, { ms }) => sum + ms, 0);
    if (whole === 0) return [];
    const longest = Math.max(...spent.map(({ on }) => SPENT[on].length));
    const bars = spent.map(({ on, ms }) => {
      const share = ms / whole;
      const bar = '█'.repeat(Math.max(1, Math.round(share * BAR))).padEnd(BAR);
      const percent = share < 0.01 ? '<1' : String(Math.round(share * 100));
      return `  ${SPENT[on].padEnd(longest)}  ${this.paint('note', bar)} ${percent.padStart(3)} %  ${shownSpan(ms)}`;
    });
    return [`Where the time went (${shownSpan(whole)})`, ...bars];
  }

  private toned(tone: Tone, text: string): string {
    if (tone === 'plain') return text;
    return this.paint(tone === 'wait' ? 'warn' : tone, text);
  }

  /** A text beside its head, wrapped at blanks. */
  private hanging(head: string, text: string): string[] {
    const room = Math.max(20, this.width - head.length);
    const lines: string[] = [];
    let line = '';
    for (const word of text.split(' ')) {
      if (line !== '' && widthOf(line) + 1 + widthOf(word) > room) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line);
    const indent = ' '.repeat(head.length);
    return lines.map((part, index) => `${index === 0 ? head : indent}${part}`.trimEnd());
  }
}

const widthOf = (text: string): number => stripVTControlCharacters(text).length;

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

/** `5-23`, or `2:5-23` with the run in front where there are several. */
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
export function elapsed(ms: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const seconds = ms / 1000;
  if (seconds < 60) return `+${seconds.toFixed(1)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `+${minutes}:${two(seconds % 60)}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `+${hours}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `+${Math.floor(hours / 24)}d ${hours % 24}:${two(minutes % 60)}`;
}

const clock = (iso: string): string => iso.replace('T', ' ').replace(/\.\d+Z$/, '');

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;
