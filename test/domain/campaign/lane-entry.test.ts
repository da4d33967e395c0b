import { begun, bury, catchUp, newLane } from '../../../src/domain/campaign/lane-entry';

describe('what the parent knows of a lane', () => {
  it('a life whose first report overtakes the word that it was started is one life', () => {
    const entry = newLane(0, 0, false);
    catchUp(entry, 1);
    begun(entry, 1);
    expect(entry.lives).toBe(1);
  });

  it('a life after one that is gone is another, in whichever order it is heard of', () => {
    const entry = newLane(0, 0, false);
    begun(entry, 1);
    bury(entry, 0);
    catchUp(entry, 2);
    begun(entry, 2);
    expect(entry).toMatchObject({ lives: 2, segmentsSeen: 2_000_000 });
    // Its reports are counted from the start.
    expect(entry.reportN).toBe(0);
  });

  it('a lane that is gone leaves no money to spend, but what stands on its books', () => {
    const entry = newLane(0, 0, true);
    Object.assign(entry, { granted: 50, committed: 30, booked: 20 });
    bury(entry, 0);
    expect(entry).toMatchObject({ granted: 20, committed: 20 });
    const free = newLane(1, 0, false);
    bury(free, 0);
    expect(free.granted).toBeNull();
  });

  it('a start that is heard of late takes nothing back', () => {
    const entry = newLane(0, 0, false);
    catchUp(entry, 3);
    begun(entry, 1);
    expect(entry.lives).toBe(3);
  });
});
