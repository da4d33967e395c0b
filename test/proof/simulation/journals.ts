import { type PaidCallSeen } from '../../../src/activities/binding/paid-history';
import { BINDING_CACHE_MS, type CheckBinding } from '../../../src/domain/journal';
import { keepLostCalls, lostAmong } from '../../../src/worker/bind-queue';
import { type JournalChange } from '../../support/changed-journal';
import { MemoryJournal, type StoreFaults } from './memory-journal';
import { type Observations } from './observations';
import { currentTime } from './virtual-globals';

/** The journals of one task queue, one after the other, and the observations that says which one it belongs to. */
export class Journals {
  /** What its workers have. */
  bound: MemoryJournal;
  private boundSince = new Date(0).toISOString();
  private lives = 0;
  /** Those that the queue was taken from, with all that they hold. */
  private readonly former: MemoryJournal[] = [];

  constructor(
    private readonly faults: StoreFaults,
    private readonly observations: Observations,
  ) {
    this.bound = this.empty();
  }

  readonly checkBinding: CheckBinding = async () => ({
    bound: true,
    journalId: this.bound.journalId,
    boundSince: this.boundSince,
  });

  /** While no worker runs. */
  change(how: JournalChange): void {
    const time = currentTime();
    this.observations.journals[how] += 1;
    time.say(() => `the journal is ${how}`);
    this.bound = this.next(how);
  }

  /** What `worker --rebind` does (src/worker.ts), with what the simulated histories tell. */
  async rebind(calls: readonly PaidCallSeen[]): Promise<void> {
    const lost = await lostAmong(calls, 'default', this.bound);
    this.observations.kept += lost.length;
    await keepLostCalls(this.bound, 'default', lost);
    // Of what stood in other journals, it has what histories told.
    this.observations.recorded = this.bound.recorded();
    this.boundSince = new Date(Date.now() + BINDING_CACHE_MS).toISOString();
    currentTime().say(() => `the queue is bound to ${this.bound.journalId}`);
  }

  private next(how: JournalChange): MemoryJournal {
    const { random, events } = currentTime();
    switch (how) {
      case 'lost':
        return this.empty();
      case 'restored':
        return this.bound.copyOf(random.between(0, events), (this.lives += 1));
      case 'rebound': {
        const back = random.chance(0.5) ? this.former.pop() : undefined;
        this.former.push(this.bound);
        return back ?? this.empty();
      }
    }
  }

  private empty(): MemoryJournal {
    const life = (this.lives += 1);
    return new MemoryJournal(this.faults, this.observations, `journal-${life}`, life);
  }
}
