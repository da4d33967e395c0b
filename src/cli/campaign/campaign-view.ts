import { type CampaignState } from '../../domain/campaign/state';
import { elapsed } from '../elapsed';
import { type LiveView, type Report } from '../report';
import { activeText, budgetText, PHASE_TEXT, rowsOf, progressLine, standText } from './campaign-text';

/** What a campaign looks like while somebody watches it. */
export interface CampaignView {
  update(state: CampaignState): void;
  stop(): void;
}

/** Rows under way that are shown below the totals. */
const ACTIVE_ROWS = 4;
const BAR_WIDTH = 24;
/** Milliseconds between two plain lines: a log is read later. */
const PLAIN_EVERY_MS = 10_000;
const REDRAW_MS = 1_000;

/**
 * On a terminal a bar of all rows with a few that are under way, redrawn in place; without one a plain line where
 * something has changed, at most every ten seconds.
 */
export function campaignView(report: Report, stream: NodeJS.WriteStream = process.stderr): CampaignView {
  return stream.isTTY && process.env['TERM'] !== 'dumb'
    ? new Redrawn(report, stream)
    : new PlainLines(report);
}

class PlainLines implements CampaignView {
  private last = '';
  private lastAt = 0;
  private phase: CampaignState['phase'] | undefined;

  constructor(private readonly report: Report) {}

  update(state: CampaignState): void {
    const line = progressLine(state);
    const soon = Date.now() - this.lastAt < PLAIN_EVERY_MS && state.phase === this.phase;
    if (line === this.last || soon) return;
    this.report.say(line);
    [this.last, this.lastAt, this.phase] = [line, Date.now(), state.phase];
  }

  stop(): void {
    // Nothing is on the screen that would have to go.
  }
}

class Redrawn implements CampaignView, LiveView {
  private state: CampaignState | undefined;
  /** Lines that are on the screen. */
  private drawn = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly report: Report,
    private readonly stream: NodeJS.WriteStream,
  ) {
    report.attach(this);
    this.timer = setInterval(() => this.draw(), REDRAW_MS);
    this.timer.unref();
  }

  update(state: CampaignState): void {
    this.state = state;
    this.draw();
  }

  clear(): void {
    if (this.drawn === 0) return;
    this.stream.write(`\x1b[${this.drawn}A\r\x1b[J`);
    this.drawn = 0;
  }

  stop(): void {
    clearInterval(this.timer);
    this.clear();
    this.report.attach(undefined);
  }

  private draw(): void {
    if (this.state === undefined) return;
    const width = (this.stream.columns || 80) - 1;
    const lines = viewLines(this.state, Date.now()).map((line) => [...line].slice(0, width).join(''));
    this.clear();
    this.stream.write(`${lines.join('\n')}\n`);
    this.drawn = lines.length;
  }
}

/** The lines of one picture. */
export function viewLines(state: CampaignState, now: number): string[] {
  const { concurrency, phase, rowsPerMinute, etaAt, budget } = state;
  const time = elapsed(now - Date.parse(state.startedAt));
  if (phase === 'planning') return [`${PHASE_TEXT.planning}  ${time}`];
  const { done, all } = rowsOf(state);
  const full = all === 0 ? BAR_WIDTH : Math.floor((done / all) * BAR_WIDTH);
  const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
  const rate = rowsPerMinute === null ? '' : `  ${rowsPerMinute}/min`;
  const eta = etaAt === null ? '' : `  about ${elapsed(Date.parse(etaAt) - now)} to go`;
  return [
    `${bar} ${done}/${all} rows  ${time}${rate}${eta}`,
    [standText(state), `At most ${concurrency} at a time.`, PHASE_TEXT[phase]].filter(Boolean).join(' '),
    ...(budget === null ? [] : [`Budget: ${budgetText(budget)}.`]),
    ...state.active.slice(0, ACTIVE_ROWS).map((row) => `  ${activeText(row, now)}`),
  ];
}
