import { emptyBook, grantedTo } from '../../../src/domain/campaign/budget-book';
import { batch } from './batch';
import { countBills, hasMoney, keepBooks, type Keeper, learn, settleBatch } from './books';
import { type Batch, type Steps, type World } from './world';

const WINDOW = 3;
/** More rounds than any campaign here needs. */
const MOST_ROUNDS = 60;

interface Remembered {
  readonly queue: readonly string[];
  readonly open: ReadonlyMap<number, Batch>;
  readonly n: number;
  readonly book: Keeper['book'];
  readonly skipped: readonly string[];
  readonly round: number;
}

/** The workflow of a campaign, with what a reset goes back to. */
export class Parent implements Keeper {
  isDead = false;
  isMoving = false;
  isFinished = false;
  n = -1;
  book = emptyBook(0);
  readonly history: Remembered[] = [];
  readonly open: Map<number, Batch>;
  private readonly queue: string[];
  private readonly skipped: Set<string>;
  private round: number;
  /** Batches that are closed just now, its own and those of others. */
  private readonly closing = new Set<number>();
  private isCounting = false;
  /** Newest entry when the bills were last counted. */
  private countedN = -2;

  constructor(
    private readonly world: World,
    private readonly from?: Remembered,
  ) {
    this.queue = [...(from?.queue ?? world.rows)];
    this.open = new Map(from?.open);
    this.skipped = new Set(from?.skipped);
    this.round = from?.round ?? 0;
    if (from !== undefined) ({ n: this.n, book: this.book } = from);
    world.spawn(this.run());
  }

  private *run(): Steps {
    const { world } = this;
    if (this.from === undefined) yield* keepBooks(world, this, { do: 'look' });
    while (!this.isDead && !this.isFinished) {
      yield;
      if (this.isDead) return;
      this.history.push({
        queue: [...this.queue],
        open: new Map(this.open),
        n: this.n,
        book: this.book,
        skipped: [...this.skipped],
        round: this.round,
      });
      this.closeWhatIsOver();
      if (world.random.chance(0.01)) this.count();
      if (this.queue.length > 0 && this.open.size < WINDOW) yield* this.openNext();
      else if (this.needy() !== undefined) yield* this.raise();
      else if (this.isIdle()) this.roundOrEnd();
    }
  }

  private closeWhatIsOver(): void {
    const { world } = this;
    for (const [n, own] of this.open)
      if ((own.end !== null || own.isDead) && !this.closing.has(n)) {
        this.closing.add(n);
        world.spawn(this.closeOwn(own));
      }
    if (!world.rules.takesOver) return;
    for (const [n] of this.book.open)
      if (!this.open.has(n) && !this.closing.has(n)) {
        this.closing.add(n);
        world.spawn(this.settleOther(n));
      }
  }

  private *openNext(): Steps {
    const { world } = this;
    const batches: string[][] = [];
    const room = Math.min(WINDOW - this.open.size, Math.ceil(this.queue.length / world.batchSize));
    const most = world.random.chance(0.7) ? 1 : room;
    for (let place = 0; place < most; place += 1)
      batches.push(this.queue.slice(place * world.batchSize, (place + 1) * world.batchSize));
    const kept = yield* keepBooks(world, this, { do: 'open', batches });
    if (kept !== 'written') return;
    this.queue.splice(0, batches.flat().length);
    const first = this.book.next - batches.length;
    for (const [place, rows] of batches.entries()) this.begin(first + place, rows);
  }

  private begin(n: number, rows: readonly string[]): void {
    const { world } = this;
    const granted = grantedTo(this.book, n) ?? 0;
    const own: Batch = {
      n,
      rows,
      granted,
      run: 0,
      isDead: false,
      handBack: false,
      needs: false,
      end: null,
    };
    this.open.set(n, own);
    world.spawn(batch(world, own, own.run));
  }

  private needy(): Batch | undefined {
    if (!hasMoney(this, this.world)) return undefined;
    return [...this.open.values()].find(({ needs, end, isDead }) => needs && end === null && !isDead);
  }

  private *raise(): Steps {
    const own = this.needy();
    if (own === undefined) return;
    own.needs = false;
    const kept = yield* keepBooks(this.world, this, { do: 'raise', batch: own.n, want: 1 });
    // Orders that are told: an older number replaces no newer one.
    if (kept === 'written') own.granted = Math.max(own.granted, grantedTo(this.book, own.n) ?? 0);
  }

  /** A batch that came back, or is gone: what it did not finish goes on with another. */
  private *closeOwn(own: Batch): Steps {
    const { n, end } = own;
    const isOver = yield* this.close(n, end);
    if (!isOver) return;
    this.open.delete(n);
    this.closing.delete(n);
    const left = end?.left ?? own.rows;
    if (end === null || end.handedBack) this.queue.push(...left);
    else for (const row of left) this.skipped.add(row);
  }

  private *settleOther(n: number): Steps {
    yield* this.close(n, null);
    this.closing.delete(n);
  }

  /** False where nobody waits for it any more. */
  private *close(n: number, end: Batch['end']): Steps<boolean> {
    const { world } = this;
    let told: { run: number | null; spent: number; free: readonly string[] } | null = end;
    while (!this.isDead) {
      told ??= { run: null, ...(yield* settleBatch(world, n)) };
      const { run, spent, free } = told;
      const kept = yield* keepBooks(world, this, { do: 'close', batch: n, run, spent, free });
      if (kept === 'written' || kept === 'unchanged') return true;
      if (kept === 'unsettled') told = null;
      if (kept === 'unheard') return false;
    }
    return false;
  }

  private isIdle(): boolean {
    return this.queue.length === 0 && this.open.size === 0 && this.closing.size === 0 && !this.isCounting;
  }

  private count(): void {
    if (this.isCounting) return;
    const { world } = this;
    this.isCounting = true;
    world.spawn(this.counting());
  }

  private *counting(): Steps {
    const before = this.n;
    const written = yield* countBills(this.world, this);
    // Batches that were closed meanwhile need another count.
    this.countedN = this.n - before > written ? before : this.n;
    this.isCounting = false;
  }

  private roundOrEnd(): void {
    if (this.skipped.size > 0 && this.countedN !== this.n && this.world.rules.countsAtTheEnd) this.count();
    else if (this.skipped.size > 0 && hasMoney(this, this.world) && this.round < MOST_ROUNDS) {
      this.round += 1;
      this.queue.push(...this.skipped);
      this.skipped.clear();
    } else if (this.n === this.world.newest().n) this.isFinished = true;
    else learn(this.world, this);
  }
}
