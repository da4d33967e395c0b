import { JOURNAL_CHANGES, type JournalChange } from '../../support/changed-journal';
import { type Cell } from './cell';
import { type Judgement } from './judge';

/** What the whole suite has reached, counted while it runs. */
export class Tally {
  private readonly cells: {
    readonly cell: Cell;
    readonly judgement: Judgement;
    readonly change: JournalChange | undefined;
  }[] = [];
  private inMatrix = 0;
  private schedules = 0;
  private serverKills = 0;
  private golden = 0;

  /** @param change what became of the journal in between */
  add(cell: Cell, judgement: Judgement, golden: boolean, change?: JournalChange): void {
    this.cells.push({ cell, judgement, change });
    this.schedules += cell.faults;
    if (cell.inMatrix) this.inMatrix += 1;
    if (golden) this.golden += 1;
  }

  killed(): void {
    this.serverKills += 1;
  }

  /** Sends that came after their schedule was judged: from somebody who was thought to be done. */
  async late(): Promise<readonly string[]> {
    const counts = await Promise.all(
      this.cells.map(async ({ cell, judgement }) => (await cell.sends()) - judgement.sends),
    );
    return this.cells.flatMap(({ cell }, at) => (counts[at] === 0 ? [] : [cell.prompt]));
  }

  counts(late: number): Record<string, number> {
    const sum = (of: (judgement: Judgement) => number): number =>
      this.cells.reduce((total, { judgement }) => total + of(judgement), 0);
    return {
      schedules: this.schedules,
      'key-matrix cells': this.inMatrix,
      'kills of the server': this.serverKills,
      sends: sum(({ sends }) => sends),
      'accepted tasks and calls': sum(({ accepted }) => accepted),
      'accepted beyond one per key': sum(({ beyond }) => beyond),
      'ids lost after a recorded reply': sum(({ lost }) => lost.length),
      'results returned for another request': sum(({ foreign }) => foreign.length),
      'sends before Retry-After': sum(({ early }) => early),
      'sends after the end of their schedule': late,
      'histories with the commands of the golden ones': this.golden,
    };
  }

  /** Of those under which the journal changed. */
  afterChanges(): Record<string, number> {
    const changed = this.cells.filter(({ change }) => change !== undefined);
    const sum = (of: (judgement: Judgement) => number): number =>
      changed.reduce((total, { judgement }) => total + of(judgement), 0);
    return {
      ...Object.fromEntries(
        JOURNAL_CHANGES.map((how) => [
          `calls with their journal ${how}`,
          changed.filter(({ change }) => change === how).length,
        ]),
      ),
      sends: sum(({ sends }) => sends),
      accepted: sum(({ accepted }) => accepted),
      'accepted without authorisation': sum(({ beyond }) => beyond),
    };
  }
}
