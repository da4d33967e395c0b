import fc from 'fast-check';
import { freeMoney, grantMoney, type GrantContext } from '../../../src/domain/campaign/grants';
import { newLane, type LaneEntry } from '../../../src/domain/campaign/lane-entry';

/** A lane as it really behaves: commits what fits, says what it needs, answers orders late. */
class TestLane {
  committed = 0;
  granted = 0;
  frozen = false;
  needs: number | null = null;

  constructor(private readonly prices: number[]) {}

  buy(): void {
    for (let next = this.prices[0]; next !== undefined; next = this.prices[0]) {
      if (this.frozen || this.committed + next > this.granted) {
        this.needs = next;
        return;
      }
      this.committed += next;
      this.prices.shift();
    }
    this.needs = null;
  }

  isDone(): boolean {
    return this.prices.length === 0;
  }
}

/** Plays a campaign to its end; the order in which lanes and parent act is drawn. @returns what was bought */
function play(budget: number, prices: number[][], turns: readonly number[]) {
  const context: GrantContext = { budget, before: 0, rowPrice: 10 };
  const lanes = prices.map((list) => new TestLane([...list]));
  const entries = prices.map((_, lane): LaneEntry => newLane(lane, 0, true));
  let orders = 0;
  let spent = false;
  for (let turn = 0; turn < 1_500 && !spent && lanes.some((lane) => !lane.isDone()); turn += 1) {
    const who = (turns[turn % turns.length] ?? 0) % lanes.length;
    const lane = lanes[who] as TestLane;
    const entry = entries[who] as LaneEntry;
    // Orders arrive, the lane works, its report comes back.
    if (entry.frozenBy === Infinity) entry.frozenBy = ++orders;
    else orders += 1;
    lane.granted = entry.granted ?? 0;
    lane.frozen = entry.frozenBy !== null;
    lane.buy();
    Object.assign(entry, { ordersSeen: orders, committed: lane.committed, needs: lane.needs });
    spent = grantMoney(context, entries).do === 'spent';
    const granted = entries.reduce((sum, { granted: held }) => sum + (held ?? 0), 0);
    if (granted > budget) throw new Error(`granted ${granted} of ${budget}`);
    for (const [place, other] of entries.entries())
      if ((other.granted ?? 0) < (lanes[place] as TestLane).committed)
        throw new Error('took back what is spent');
  }
  return { lanes, entries, spent, context };
}

const priceLists = fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 40 }), {
  minLength: 1,
  maxLength: 5,
});
const turns = fc.array(fc.nat(20), { minLength: 20, maxLength: 60 });

describe('blocks of a budget', () => {
  it('are never more than the budget, and never less than what a lane has committed', () => {
    fc.assert(
      fc.property(fc.nat(2_000), priceLists, turns, (budget, prices, order) => {
        play(budget, prices, [...order, ...prices.keys()]);
      }),
    );
  });

  it('reach every row when the budget is enough, however it is spread', () => {
    fc.assert(
      fc.property(priceLists, turns, (prices, order) => {
        const total = prices.flat().reduce((sum, price) => sum + price, 0);
        const { lanes, spent } = play(total, prices, [...order, ...prices.keys()]);
        expect(spent).toBe(false);
        expect(lanes.every((lane) => lane.isDone())).toBe(true);
      }),
    );
  });

  it('are declared spent only when no row that waits fits into all that is left', () => {
    fc.assert(
      fc.property(fc.nat(600), priceLists, turns, (budget, prices, order) => {
        const { lanes, entries, spent, context } = play(budget, prices, [...order, ...prices.keys()]);
        if (!spent) return;
        const unspent = lanes.reduce(
          (sum, { granted, committed }) => sum + Math.max(0, granted - committed),
          0,
        );
        expect(unspent).toBeLessThanOrEqual(Math.max(...entries.map(({ granted }) => granted ?? 0), 0) + 60);
        const starving = entries.filter(({ needs }) => needs !== null);
        expect(starving.length).toBeGreaterThan(0);
        const first = starving[0] as LaneEntry;
        const held = (first.granted ?? 0) - first.committed;
        expect(first.needs).toBeGreaterThan(freeMoney(context, entries) + held);
      }),
    );
  });

  it('asks back what lanes hold unspent where more is out than there is, and then calls the budget spent', () => {
    const entry: LaneEntry = {
      ...newLane(0, 0, true),
      granted: 100,
      committed: 60,
      needs: 10,
      ordersSeen: 1,
    };
    const context: GrantContext = { budget: 50, before: 0, rowPrice: 10, overdrawn: true };
    expect(freeMoney(context, [entry])).toBe(-50);
    expect(grantMoney(context, [entry]).do).toBe('nothing');
    expect(entry).toMatchObject({ frozenBy: Infinity, granted: 100 });
    // Its answer to the order that froze it.
    Object.assign(entry, { frozenBy: 2, ordersSeen: 2 });
    expect(grantMoney(context, [entry]).do).toBe('spent');
    expect(entry).toMatchObject({ frozenBy: null, granted: 60 });
  });
});
