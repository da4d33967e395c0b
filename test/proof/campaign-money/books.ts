import {
  billedAgain,
  closed,
  freeOf,
  grantedTo,
  isClosed,
  opened,
  raised,
  type BookEntry,
  type Returned,
} from '../../../src/domain/campaign/budget-book';
import { type Intent, placeOf, type Steps, waits, wasCharged, type World } from './world';

export type Move =
  | { readonly do: 'look' }
  | { readonly do: 'open'; readonly batches: readonly (readonly string[])[] }
  | { readonly do: 'raise'; readonly batch: number; readonly want: number }
  | { readonly do: 'bill'; readonly was: number; readonly counted: Counted }
  | {
      readonly do: 'close';
      readonly batch: number;
      readonly spent: number;
      readonly run: number | null;
      readonly free: readonly string[];
    };

/** What a count of the bills has found. */
interface Counted {
  readonly billed: number;
  readonly bills: readonly (readonly [Intent, number])[];
}

/** What the asker knows of the book, and whether it still waits for an answer. */
export interface Keeper {
  isDead: boolean;
  isMoving: boolean;
  n: number;
  book: BookEntry;
}

export type Kept = 'written' | 'conflict' | 'unsettled' | 'unchanged' | 'unheard';

/** `media.keepBooks`: one move at a time of one parent. It may go on for a while although its parent is gone. */
export function* keepBooks(world: World, keeper: Keeper, move: Move): Steps<Kept> {
  while (keeper.isMoving) yield;
  keeper.isMoving = true;
  const kept = yield* moved(world, keeper, move);
  keeper.isMoving = false;
  return keeper.isDead ? 'unheard' : kept;
}

function* moved(world: World, keeper: Keeper, move: Move): Steps<Kept> {
  const { rules, random, entries } = world;
  const { n: known } = keeper;
  yield;
  if (keeper.isDead && random.chance(0.5)) return 'unheard';
  const newest = world.newest();
  if (newest.n !== known && (rules.createIfAbsent || move.do === 'look')) {
    learn(world, keeper);
    return move.do === 'look' ? 'unchanged' : 'conflict';
  }
  const basis = keeper.book;
  const entry = yield* entryAfter(world, basis, move);
  if (entry === 'unsettled') return entry;
  if (entry === undefined) {
    // The bills add up to what the book had when the count began, and still has.
    const { billed } = basis;
    if (move.do === 'bill' && move.was === billed && move.counted.billed === billed)
      noteCounted(world, move.counted);
    return 'unchanged';
  }
  yield* waits(world);
  if (keeper.isDead && random.chance(0.5)) return 'unheard';
  if (rules.createIfAbsent && entries.length !== known + 1) {
    learn(world, keeper);
    return 'conflict';
  }
  entries.push(entry);
  if (move.do === 'close') world.closedAt = world.steps;
  if (move.do === 'bill') noteCounted(world, move.counted);
  yield;
  if (move.do === 'open')
    move.batches.forEach((rows, place) => world.batchRows.set(basis.next + place, rows));
  if (!keeper.isDead) Object.assign(keeper, { n: entries.indexOf(entry), book: entry });
  return 'written';
}

/** The book counts these bills now, and no others: an earlier count may be written late by a parent that is gone. */
function noteCounted(world: World, { bills }: Counted): void {
  const counted = new Map(bills);
  for (const claim of world.claims.values())
    if (claim !== 'fence') world.change(claim, { counted: counted.get(claim) ?? null });
}

export function learn(world: World, keeper: Keeper): void {
  Object.assign(keeper, world.newest());
}

function* entryAfter(world: World, book: BookEntry, move: Move): Steps<BookEntry | 'unsettled' | undefined> {
  switch (move.do) {
    case 'look':
      return undefined;
    case 'open':
      return move.batches.reduce((entry, rows) => opened(entry, rows.length, world.budget), book);
    case 'raise':
      return raised(book, move.batch, move.want, world.budget);
    case 'bill':
      if (!world.rules.countsUnchanged) return { ...book, billed: move.counted.billed };
      return billedAgain(book, move.was, move.counted.billed);
    case 'close': {
      const { batch, spent, run, free } = move;
      if (grantedTo(book, batch) === undefined) return undefined;
      world.fences.add(batch);
      yield* waits(world);
      const owner = world.owners.get(batch);
      if (run !== null && owner !== undefined && owner !== run) return 'unsettled';
      return closed(
        book,
        batch,
        spent,
        yield* givenBack(world, book, { by: batch, isReported: run !== null }, free),
      );
    }
  }
}

/** What closed batches were charged for, and this closing takes off. */
function* givenBack(
  world: World,
  book: BookEntry,
  { by, isReported }: { readonly by: number; readonly isReported: boolean },
  places: readonly string[],
): Steps<Returned> {
  const { rules, claims, free } = world;
  let [sum, billed] = [0, 0];
  for (const place of places) {
    const claim = claims.get(place);
    yield;
    if (!wasCharged(claim)) continue;
    const hasBill = claim.bill !== null;
    const isOwn = claim.payer === by;
    const deducts = isOwn ? isReported : !rules.deductsClosedOnly || isClosed(book, claim.payer);
    if (!rules.freeRecord) {
      if (!isOwn || isReported) sum += 1;
      continue;
    }
    const record = free.get(place) ?? { by, deducts };
    free.set(place, record);
    yield;
    if (record.by !== by) continue;
    if ((rules.decidesOnce ? record.deducts : deducts) && (!isOwn || isReported)) sum += 1;
    if (hasBill && rules.returnsBilled) billed += 1;
  }
  return { deducted: sum, billed };
}

/** `media.settleBatch`: what a batch has cost that nobody can ask any more. */
export function* settleBatch(
  world: World,
  batch: number,
): Steps<{ readonly spent: number; readonly free: readonly string[] }> {
  const { rules, claims } = world;
  world.fences.add(batch);
  yield* waits(world);
  let spent = 0;
  const free: string[] = [];
  for (const row of world.batchRows.get(batch) ?? [])
    for (let at = 0; ; at += 1) {
      const place = placeOf(row, at);
      const claim = claims.get(place);
      yield;
      if (claim === undefined) break;
      if (claim === 'fence') continue;
      while (rules.waitsForSends && claim.payer === batch && world.isUnderWay(claim)) yield;
      if (!wasCharged(claim)) continue;
      if (claim.payer !== batch) {
        if (world.unpaid.has(place)) free.push(place);
        continue;
      }
      if (rules.freeRecord && world.free.has(place)) continue;
      if (!rules.freeRecord || !world.unpaid.has(place)) spent += 1;
      else {
        world.free.set(place, { by: batch, deducts: false });
        if (claim.bill !== null) free.push(place);
      }
    }
  return { spent, free };
}

/** `media.countBills` of all batches, and the move that follows. How many entries that has written. */
export function* countBills(world: World, keeper: Keeper): Steps<number> {
  while (!keeper.isDead) {
    const was = keeper.book.billed;
    const counted = yield* countedBills(world, keeper.book.next);
    let kept: Kept;
    do kept = yield* keepBooks(world, keeper, { do: 'bill', was, counted });
    while (kept === 'conflict' && keeper.book.billed === was);
    if (kept === 'unheard' || keeper.book.billed === counted.billed) return kept === 'written' ? 1 : 0;
  }
  return 0;
}

function* countedBills({ rules, claims, batchRows }: World, until: number): Steps<Counted> {
  let billed = 0;
  const bills: (readonly [Intent, number])[] = [];
  for (let batch = 0; batch < until; batch += 1)
    for (const row of batchRows.get(batch) ?? [])
      for (let at = 0; ; at += 1) {
        const claim = claims.get(placeOf(row, at));
        if (claim === undefined) break;
        yield;
        if (claim === 'fence' || claim.payer !== batch || claim.bill === null) continue;
        if (claim.outcome === null && rules.waitsForOutcome) continue;
        billed += claim.bill - (wasCharged(claim) && !claim.isFree ? 1 : 0);
        bills.push([claim, claim.bill]);
      }
  return { billed, bills };
}

export const hasMoney = ({ book }: Keeper, world: World): boolean => (freeOf(book, world.budget) ?? 0) >= 1;
