import { Format, SingleBar } from 'cli-progress';
import { type VideoState } from 'temporal-media';
import { type Started } from 'temporal-media/client';
import { situation } from 'temporal-media/internal/domain/advice';
import { PAUSED } from 'temporal-media/internal/domain/names';
import { visible } from 'temporal-media/internal/domain/terminal-text';
import { type Connected } from './connect';
import { type LiveView, type Report, shortId, statusLine } from './report';
import { shellWord } from './text';

/** Shows the progress of a wait. */
export interface ProgressView {
  update(state: VideoState): void;
  /** Shows an activity's current attempt and why the last one failed. Undefined for a first attempt. */
  tries(text: string | undefined): void;
  stop(): void;
}

/** Number of redraws per second. They keep the elapsed time up to date between states. */
const FPS = 4;
const BAR_WIDTH = 30;
/** A shorter bar is omitted. */
const LEAST_BAR_WIDTH = 5;

/**
 * On a terminal, shows one line that is redrawn, with a bar only while the service reports a percentage. Elsewhere,
 * prints a plain line for every change.
 */
export function progressView(report: Report, stream: NodeJS.WriteStream = process.stderr): ProgressView {
  return stream.isTTY && process.env['TERM'] !== 'dumb'
    ? new Redrawn(report, stream)
    : new PlainLines(report);
}

/** Prints a task id once in full if the progress lines shorten it. */
function namer(report: Report): (state: VideoState) => void {
  let named: string | null = null;
  return ({ taskId }) => {
    if (taskId == null || taskId === named) return;
    named = taskId;
    if (shortId(taskId) !== taskId) report.say(`task ${taskId}`);
  };
}

class PlainLines implements ProgressView {
  private last: string | undefined;
  private state: VideoState | undefined;
  private readonly beganAt = Date.now();
  private readonly name: (state: VideoState) => void;

  constructor(private readonly report: Report) {
    this.name = namer(report);
  }

  update(state: VideoState): void {
    this.state = state;
    this.show(undefined);
  }

  tries(text: string | undefined): void {
    if (text !== undefined) this.show(text);
  }

  private show(tries: string | undefined): void {
    const line = lineOf(this.state, tries);
    if (line === undefined || line === this.last) return;
    if (this.state !== undefined) this.name(this.state);
    this.last = line;
    this.report.say(`${line} (${elapsed(Date.now() - begin(this.state, this.beganAt))})`);
  }

  stop(): void {}
}

class Redrawn implements ProgressView, LiveView {
  private readonly beganAt = Date.now();
  private state: VideoState | undefined;
  private tried: string | undefined;
  private bar: SingleBar | undefined;
  private readonly name: (state: VideoState) => void;

  constructor(
    private readonly report: Report,
    private readonly stream: NodeJS.WriteStream,
  ) {
    report.attach(this);
    this.name = namer(report);
  }

  update(state: VideoState): void {
    this.state = state;
    this.tried = undefined;
    if (statusLine(state) !== undefined) this.name(state);
    this.show();
  }

  tries(text: string | undefined): void {
    this.tried = text;
    this.show();
  }

  private show(): void {
    if (lineOf(this.state, this.tried) === undefined) return this.clear();
    if (this.bar === undefined) this.draw();
  }

  clear(): void {
    this.bar?.stop();
    this.bar = undefined;
  }

  stop(): void {
    this.clear();
    this.report.attach(undefined);
  }

  private draw(): void {
    this.bar = new SingleBar({
      stream: this.stream,
      fps: FPS,
      forceRedraw: true,
      clearOnComplete: true,
      // The command handles Ctrl-C.
      gracefulExit: false,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      barsize: BAR_WIDTH,
      format: (options) =>
        this.line((share, width) => Format.BarFormat(share, { ...options, barsize: width })),
    });
    this.bar.start(100, 0);
  }

  private line(bar: (share: number, width: number) => string): string {
    const text = `${visible(lineOf(this.state, this.tried) ?? '')}  ${elapsed(Date.now() - begin(this.state, this.beganAt))}`;
    if (this.state === undefined) return text;
    const { watch, phase } = this.state;
    // The line is cut at the terminal's edge. On a narrow terminal the bar shrinks, but percentage and time remain.
    const width = Math.min(BAR_WIDTH, (this.stream.columns || 80) - text.length - 2);
    const barred = phase === 'watching' && watch?.progress !== undefined && width >= LEAST_BAR_WIDTH;
    return barred ? `${bar(watch.progress / 100, width)} ${text}` : text;
  }
}

/** Combines status and attempts in one line. Undefined when there is nothing to show. */
function lineOf(state: VideoState | undefined, tries: string | undefined): string | undefined {
  const status = state && statusLine(state);
  if (tries === undefined || state?.phase === 'done') return status;
  return status === undefined ? tries : `${status}, ${tries}`;
}

/**
 * Returns the start of the elapsed time: the task's creation time if known, so that a resumed wait does not restart at
 * 0.
 */
function begin(state: VideoState | undefined, beganAt: number): number {
  return state?.video?.createdAt ? Date.parse(state.video.createdAt) : beganAt;
}

/** Formats a time span: `0:07`, `12:45`, `3:02:45`, `2 d 3:02:45`. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  const days = Math.floor(seconds / 86_400);
  const clock = hours > 0 || days > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${days > 0 ? `${days} d ` : ''}${clock}:${two(seconds % 60)}`;
}

/** Formats rows as lines with aligned columns, two spaces apart. Does not pad the last column. */
export function textTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** Warns if the execution that a command attached to is paused. */
export async function warnIfPaused(
  { client }: Connected,
  report: Report,
  { as, workflowId: ID }: Pick<Started<unknown>, 'as' | 'workflowId'>,
): Promise<void> {
  const status =
    as === 'activity'
      ? (await client.activity.getHandle(ID).describe()).status
      : (await client.workflow.getHandle(ID).describe()).status.name;
  if (status !== PAUSED) return;
  const { text } = situation(as === 'activity' ? 'standalone_paused' : 'paused', { ID }, shellWord);
  report.say(`${report.paint('warn', 'warning:')} ${text}`);
}
