import { SendRate } from '../../src/settings/accounts';

describe('the rate of an account', () => {
  it('spaces requests evenly, for as long as a call may keep its slot', () => {
    const rate = new SendRate(2, () => 10_000);
    const turns = Array.from({ length: 12 }, () => rate.take());
    expect(turns.slice(0, 11)).toEqual(turns.slice(0, 11).map((_turn, place) => ({ inMs: place * 500 })));
    expect(turns[11]).toEqual({ heldForMs: 5_500 });
  });

  it('sends the others away until turns that are as far apart', () => {
    let now = 0;
    const rate = new SendRate(0.1, () => now);
    expect(rate.take()).toEqual({ inMs: 0 });
    const turns = Array.from({ length: 3 }, () => rate.take());
    expect(turns).toEqual([{ heldForMs: 10_000 }, { heldForMs: 20_000 }, { heldForMs: 30_000 }]);
    now = 10_000;
    expect(rate.take()).toEqual({ inMs: 0 });
  });

  it('never falls behind its time: a pause does not allow a burst, and what cannot wait is counted', () => {
    let now = 0;
    const rate = new SendRate(1, () => now);
    rate.take();
    now = 60_000;
    expect([rate.take(), rate.take()]).toEqual([{ inMs: 0 }, { inMs: 1_000 }]);
    rate.count();
    expect(rate.take()).toEqual({ inMs: 3_000 });
  });
});
