import { PollGate } from '../../src/activities/poll-limits';

/** As many tasks as a gate remembers. */
const MOST = 100_000;

describe('the lower bounds of a process', () => {
  it('[C8.2] a task waits for the shortest interval since its last poll, and a new one does not wait', () => {
    let now = 1_000;
    const gate = new PollGate(() => now);
    expect([gate.floorWait('a', 3_000), gate.lastPolled('a')]).toEqual([0, -Infinity]);
    gate.polled('a');
    now += 1_000;
    expect([gate.floorWait('a', 3_000), gate.lastPolled('a')]).toEqual([2_000, 1_000]);
    gate.polled('a');
    expect([gate.floorWait('a', 3_000), gate.lastPolled('a')]).toEqual([3_000, 2_000]);
    now += 3_000;
    expect(gate.floorWait('a', 3_000)).toBe(0);
  });

  it('of too many tasks it forgets those that are not polled any more, however old the others are', () => {
    const gate = new PollGate(() => 1);
    for (let n = 0; n < MOST; n += 1) gate.polled(`task-${n}`);
    gate.polled('task-0');
    gate.polled('task-2');
    for (const added of ['x', 'y']) gate.polled(added);
    const remembered = (task: string) => gate.lastPolled(task) > 0;
    expect(['task-0', 'task-1', 'task-2', 'task-3', 'task-4', 'x', 'y'].map(remembered)).toEqual([
      true,
      false,
      true,
      false,
      true,
      true,
      true,
    ]);
    // When all of them were polled again, the oldest goes.
    for (let n = 4; n < MOST; n += 1) gate.polled(`task-${n}`);
    for (const task of ['task-0', 'task-2', 'x', 'y', 'z']) gate.polled(task);
    expect(['task-4', 'task-5', 'z'].map(remembered)).toEqual([false, true, true]);
  });
});
