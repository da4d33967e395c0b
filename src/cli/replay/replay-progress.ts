import { SingleBar } from 'cli-progress';
import { type LiveView, type Report } from '../report';
import { type ReplaySummary } from './replay-summary';

/** How many histories were replayed: a line that is redrawn, on a terminal only. */
export function replayProgress(report: Report, stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY && process.env['TERM'] !== 'dumb' ? new Redrawn(report, stream) : NONE;
}

interface Progress {
  update(summary: ReplaySummary): void;
  stop(): void;
}

const NONE: Progress = { update: () => undefined, stop: () => undefined };

class Redrawn implements Progress, LiveView {
  #bar: SingleBar | undefined;
  #text = '';

  constructor(
    private readonly report: Report,
    private readonly stream: NodeJS.WriteStream,
  ) {
    report.attach(this);
  }

  update(summary: ReplaySummary): void {
    this.#text = summary.line();
    if (this.#bar === undefined) {
      this.#bar = new SingleBar({
        stream: this.stream,
        fps: 4,
        clearOnComplete: true,
        gracefulExit: false,
        format: () => this.#text,
      });
      this.#bar.start(1, 0);
    }
    this.#bar.update(0);
  }

  clear(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  stop(): void {
    this.clear();
    this.report.attach(undefined);
  }
}
