import { createHash } from 'node:crypto';
import { needingPerson, outcomeWords } from 'temporal-media/internal/domain/campaign/row';
import { WORKFLOW } from 'temporal-media/internal/domain/names';
import { TONES } from 'temporal-media/internal/html/page-assets';
import { rowCause } from './campaign-rows';
import { isRefused } from './story';
import {
  ENTRY_KINDS,
  SPENT,
  type Lane,
  type Timeline,
  type TimelineEntry,
  type TimelineRow,
  type Tone,
} from './timeline';
import { TIMELINE_SCRIPT, TIMELINE_STYLE } from './timeline-page-assets';
import { eventText, offsetText } from './timeline-text';
import { shownSpan } from './values';
import { moneySummaryText, sendsText } from './workflow-entries';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The page loads nothing, sends nothing and runs only its own script: everything is in the file. */
export const PAGE_POLICY = `default-src 'none'; script-src ${hashOf(TIMELINE_SCRIPT)}; style-src ${hashOf(TIMELINE_STYLE)}; base-uri 'none'; form-action 'none'`;

const LANES: { readonly [lane in Lane]: string } = {
  create: 'Creates',
  polls: 'Polls',
  wait: 'Waits',
  download: 'Downloads',
  money: 'Money',
  people: 'People',
  batches: 'Batches',
  campaign: 'Plan, orders and reports',
  rows: 'Pages and results',
  own: 'Your code',
  workflow: 'Workflow',
};

/** Maximum number of campaign rows on the page; failed rows come first. */
const MAX_ROWS = 10_000;

/** Workflows whose time axis shows the time of day. */
const BY_THE_CLOCK: readonly string[] = [WORKFLOW.runCampaign, WORKFLOW.campaignBatch];

/** Returns a self-contained page that opens from disk. It includes the children's timelines. */
export function timelinePage(timeline: Timeline): string {
  const clock = BY_THE_CLOCK.includes(timeline.workflowType);
  const data = JSON.stringify({ clock, lanes: LANES, timelines: flat(timeline).map(drawn) }).replaceAll(
    '<',
    '\\u003c',
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${PAGE_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escaped(`${timeline.workflowType} ${timeline.workflowId}`)}</title>
<style>${TIMELINE_STYLE}</style>
</head>
<body>
<nav id="others" aria-label="Workflows" hidden></nav>
<header id="head"></header>
<section id="spent" aria-labelledby="spent-title"><h2 id="spent-title">Where the time went</h2></section>
<section id="rows" aria-labelledby="rows-title" hidden><h2 id="rows-title">Rows</h2>
<form class="filters" id="filters" aria-label="Row filters" hidden></form>
<div class="table" tabindex="0" role="region" aria-labelledby="rows-title"><table aria-labelledby="rows-title"><thead><tr><th scope="col">Row</th><th scope="col">State</th><th scope="col">Batch</th><th scope="col">Creates</th><th scope="col">Polls</th><th scope="col">Task</th></tr></thead><tbody id="body"></tbody></table></div>
<p class="more-rows"><button type="button" id="more" hidden>Show more</button></p><p id="left"></p></section>
<section aria-labelledby="chart-title"><h2 id="chart-title">Timeline${clock ? ' <small>UTC</small>' : ''}</h2>
<div class="tools" role="group" aria-label="Zoom"><button type="button" id="in" aria-label="Zoom in">+</button><button type="button" id="out" aria-label="Zoom out">−</button><button type="button" id="earlier" aria-label="Earlier">←</button><button type="button" id="later" aria-label="Later">→</button><button type="button" id="all">All</button><span id="range" role="status" aria-live="polite"></span></div>
<div id="chart" tabindex="0" role="group" aria-label="Timeline. Keys: + and - zoom, arrows move, 0 shows all. The list below has every entry."></div>
</section>
<section aria-labelledby="entries-title"><h2 id="entries-title">What happened</h2><ol id="entries"></ol></section>
<noscript><p>This page needs JavaScript to draw the timeline. Allow its built-in script to run.</p></noscript>
<script type="application/json" id="data">${data}</script>
<script>${TIMELINE_SCRIPT}</script>
</body>
</html>
`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const flat = (timeline: Timeline): Timeline[] => [timeline, ...timeline.children.flatMap(flat)];

/** One bar or mark: `entry` is an index into the entries. */
interface Item {
  readonly lane: Lane;
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
  readonly entry: number;
}

/** Returns a timeline in the format that the script expects. Times are in milliseconds since its start. */
function drawn(timeline: Timeline): object {
  const { startedAt, lastEventAt, readAt, entries, runs, advice, spent, rows, workflowType, workflowId } =
    timeline;
  const start = Date.parse(startedAt ?? '') || 0;
  const since = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso) - start);
  const whole = Date.parse(readAt ?? lastEventAt ?? '') - start || 0;
  const hasRuns = runs.length > 1;
  const items = [
    ...entries.flatMap((entry, index) => itemsOf(entry, index, (iso) => since(iso) ?? 0)),
    ...undecided(entries, (iso) => since(iso) ?? 0),
  ];
  return {
    name: `${workflowType} ${workflowId}`,
    type: workflowType,
    id: workflowId,
    ...badgeOf(timeline),
    advice,
    facts: factsOf(timeline, whole),
    spent: spent.map(({ on, ms }) => ({ on, name: SPENT[on], ms, text: shownSpan(ms) })),
    whole,
    startedAt,
    deadline: since(timeline.deadlineAt),
    items,
    entries: entries.map(({ at, until, kind, tone, text, facts, events }) => ({
      offset: offsetText(since(at) ?? 0),
      at,
      until,
      kind,
      meaning: ENTRY_KINDS[kind][1],
      tone,
      text,
      facts,
      events: eventText(events, hasRuns),
      ids: events.map(({ run, ids }) => `${hasRuns ? `run ${run + 1}: ` : ''}${ids.join(', ')}`),
    })),
    rowsLeftOut: Math.max(0, rows.length - MAX_ROWS),
    rows: mostUrgent(rows).map(({ state, ...row }) => ({
      ...row,
      outcome: state,
      label: outcomeWords(state).label,
      kind: row.kind ?? '',
      model: row.model ?? '',
      cause: rowCause({ state, ...row }),
      from: since(row.startedAt ?? row.createdAt),
      made: since(row.createdAt),
      to: since(row.finishedAt),
    })),
  };
}

/** Returns how the execution ended, with the number of rows that need attention. */
function badgeOf({ entries, rows, outcome }: Timeline): { readonly label: string; readonly tone: Tone } {
  const end = entries.findLast(({ kind }) => kind === 'ended');
  const counts = end?.facts['counts'];
  const bad =
    counts === undefined
      ? rows.filter(({ tone }) => tone === 'bad').length
      : needingPerson(counts as { readonly [outcome: string]: number });
  const label = outcome === null ? 'Open' : outcomeWords(outcome).label;
  return {
    label: bad === 0 ? label : `${label}, ${bad.toLocaleString('en-US')} needing attention`,
    tone: end?.tone ?? (bad === 0 ? 'plain' : 'bad'),
  };
}

/** Returns the rows to show, in manifest order. Drops the least urgent ones if there are too many. */
function mostUrgent(rows: readonly TimelineRow[]): readonly TimelineRow[] {
  const kept = [...rows].sort((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone)).slice(0, MAX_ROWS);
  return kept.sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity) || 0);
}

function itemsOf(entry: TimelineEntry, index: number, since: (iso: string) => number): Item[] {
  const { at, until, kind, tone, facts } = entry;
  const item = { from: since(at), to: since(until), tone, entry: index };
  const lane: Lane = ENTRY_KINDS[kind][0];
  // A payment, or a possible payment, is shown at the time when it became known.
  const isMoney =
    (kind === 'create' || kind === 'image') && facts['sent'] === true && !isRefused(facts['outcome']);
  const isBill = kind === 'ended' && facts['billing'] !== undefined;
  const money: Item[] = isMoney || isBill ? [{ ...item, lane: 'money', from: item.to }] : [];
  return [{ ...item, lane }, ...money];
}

/**
 * Adds bars for waits on a person: no events fall between a create with an unknown outcome and the decision about it.
 */
function undecided(entries: readonly TimelineEntry[], since: (iso: string) => number): Item[] {
  const items: Item[] = [];
  let open: number | null = null;
  entries.forEach(({ kind, at, until, facts }, entry) => {
    if (kind === 'decision' && open !== null)
      items.push({ lane: 'wait', from: open, to: since(at), tone: 'wait', entry });
    const isOpen = facts['outcome'] === 'unconfirmed' || facts['resolved'] === false;
    if (kind === 'create' || kind === 'reconcile' || kind === 'decision') open = isOpen ? since(until) : null;
  });
  return items;
}

function factsOf(timeline: Timeline, whole: number): (readonly [name: string, value: string])[] {
  const { polls, runs, startedAt, deadlineAt, parent, taskId, model, account, creationKey, money } = timeline;
  const events = runs.reduce((sum, run) => sum + run.events, 0);
  const facts: (readonly [name: string, value: string | null])[] = [
    ['Started', startedAt],
    ['Duration', shownSpan(whole)],
    ['Task', taskId],
    ['Model', model],
    ['Account', account],
    ['Creation key', creationKey],
    ['Parent', parent?.workflowId ?? null],
    ['Sends', sendsText(timeline)],
    ['Money', moneySummaryText(money)],
    [
      'Polls',
      polls.count === 0
        ? null
        : `${polls.count}${polls.longestGapMs === null ? '' : `, longest gap ${shownSpan(polls.longestGapMs)}`}`,
    ],
    ['Deadline', deadlineAt],
    [
      'History',
      `${events.toLocaleString('en-US')} events in ${runs.length === 1 ? '1 run' : `${runs.length} runs`}`,
    ],
  ];
  return facts.filter((fact): fact is readonly [string, string] => fact[1] !== null);
}
