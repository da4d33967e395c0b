import {
  closed,
  freeOf,
  grantedTo,
  isClosed,
  opened,
  raised,
  type BookEntry,
} from '../../../src/domain/campaign/budget-book';
import { placeOf, type Steps, waits, wasCharged, type World } from './world';

export type Move =
  | { readonly do: 'look' }
  | { readonly do: 'open'; readonly batches: readonly (readonly string[])[] }
  | { readonly do: 'raise'; readonly batch: number; readonly want: number }
  | {
      readonly do: 'close';
      readonly batch: number;
      readonly spent: number;
      readonly run: number | null;
      readonly free: readonly string[];
    };

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
  if (entry === undefined) return 'unchanged';
  yield* waits(world);
  if (keeper.isDead && random.chance(0.5)) return 'unheard';
  if (rules.createIfAbsent && entries.length !== known + 1) {
    learn(world, keeper);
    return 'conflict';
  }
  entries.push(entry);
  yield;
  if (move.do === 'open')
    move.batches.forEach((rows, place) => world.batchRows.set(basis.next + place, rows));
  if (!keeper.isDead) Object.assign(keeper, { n: entries.indexOf(entry), book: entry });
  return 'written';
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
    case 'close': {
      const { batch, spent, run, free } = move;
      if (grantedTo(book, batch) === undefined) return undefined;
      world.fences.add(batch);
      yield* waits(world);
      const owner = world.owners.get(batch);
      if (run !== null && owner !== undefined && owner !== run) return 'unsettled';
      const deducted = yield* givenBack(world, book, batch, free);
      return closed(book, batch, spent, deducted);
    }
  }
}

/** What closed batches were charged for, and this closing takes off. */
function* givenBack(world: World, book: BookEntry, by: number, places: readonly string[]): Steps<number> {
  const { rules, claims, free } = world;
  let sum = 0;
  for (const place of places) {
    const claim = claims.get(place);
    yield;
    if (!wasCharged(claim)) continue;
    const deducts = claim.payer !== by && (!rules.deductsClosedOnly || isClosed(book, claim.payer));
    if (!rules.freeRecord) {
      if (claim.payer !== by) sum += 1;
      continue;
    }
    const record = free.get(place) ?? { by, deducts };
    free.set(place, record);
    yield;
    if (record.by === by && (rules.decidesOnce ? record.deducts : deducts)) sum += 1;
  }
  return sum;
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
      else world.free.set(place, { by: batch, deducts: false });
    }
  return { spent, free };
}

export const hasMoney = ({ book }: Keeper, world: World): boolean => (freeOf(book, world.budget) ?? 0) > 0;
