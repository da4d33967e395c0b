import {
  ChildWorkflowCancellationType,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { SIGNAL, WORKFLOW } from '../../domain/names';
import { fairnessKeyOf } from '../../domain/campaign/fairness-key';
import { begun, bury, catchUp, type LaneEntry } from '../../domain/campaign/lane-entry';
import { type LaneSettings } from '../../domain/campaign/lane-state';
import { type LaneOrders, type LaneReport } from '../../domain/campaign/messages';
import { laneWorkflowId } from '../../domain/campaign/state';
import { type campaignLane } from './campaign-lane';
import { MAX_LANES } from './campaign-settings';

/** A lane of another campaign under this id is told so and given a moment to end. */
const RETIRE_MS = 2_000;
/** Rounds of that length, then longer ones: a lane whose creates wait for a worker may take a day, and each round is history. */
const SHORT_ROUNDS = 10;
const LONGEST_ROUND_MS = 5 * 60_000;

/** Orders without their number. */
export type Orders = Omit<LaneOrders, 'n' | 'campaignRun' | 'parentRun'>;

interface Contact {
  /** What was sent last, to see whether there is news. */
  text: string;
  busy: boolean;
  /** It closed, as far as this run of the campaign has started it. */
  closed: boolean;
  /** Not before: after a lane of another campaign was told to end. */
  notBefore: number;
  /** It has reported to this run: it is of this campaign. */
  known: boolean;
  /** Another campaign's lane was found under its id, and told to end: what it has bought since is not known. */
  retires: boolean;
  /** Its present life has said what it holds, to this run: what was known before may be older than a reset. */
  heard: boolean;
  /** This run was reset, and what the lane holds of what was granted since is not known yet. */
  undone: boolean;
  /** First order of the run that it follows, as it said last, and the first that this run gave it. */
  parentSince: number;
  firstN: number;
}

/** The parent's side of the talk: starts lanes, sends orders, notices lanes that are gone. */
export class CampaignLanes {
  private readonly contacts = new Map<number, Contact>();
  private readonly campaign = workflowInfo().workflowId;
  private readonly campaignRun = workflowInfo().firstExecutionRunId;
  private readonly run = workflowInfo().runId;
  /** Only answers to orders after this number say what a lane holds; 0 unless this run was reset. */
  private countsAfter = 0;

  constructor(
    private readonly settings: LaneSettings,
    private readonly priority: { readonly priorityKey?: number; readonly fairnessWeight?: number },
    /** Orders are numbered over resets of the campaign too: workflow time only goes on. */
    private n: number,
    private readonly onChange: () => void,
    /** A lane is gone, and what it bought since its last report is not known. */
    private readonly onLost: (entry: LaneEntry) => void,
  ) {}

  lastNumber(): number {
    return this.n;
  }

  isBusy(): boolean {
    return [...this.contacts.values()].some(({ busy }) => busy);
  }

  /**
   * A report came: the lane lives, whoever started it. @returns whether what it says counts: it is not of a life that is
   * over, nor an answer to an order that a reset has undone, of which this run knows nothing. Told by numbers and not by
   * run ids: a reset run replays what came before it under another id.
   */
  hears(entry: LaneEntry, report: LaneReport): boolean {
    const { life, ordersSeen, orphaned, parentSince } = report;
    if (life < entry.lives) return false;
    const contact = this.contactOf(entry.lane);
    contact.known = true;
    contact.notBefore = 0;
    if (life > entry.lives) catchUp(entry, life);
    if (orphaned) this.repeat(entry);
    if (ordersSeen > entry.ordersN) {
      if (this.countsAfter === 0) this.onUndone();
      this.repeat(entry);
      return false;
    }
    this.noteGrant(entry, report, contact);
    // Before it follows this run it may still buy with what another one granted.
    const follows = parentSince === undefined || (contact.firstN > 0 && parentSince >= contact.firstN);
    if (follows && ordersSeen > this.countsAfter) contact.heard = true;
    return true;
  }

  /**
   * A lane that this run has heard before, and that follows it only now: this run was reset, and may have granted other
   * money in what was undone. All are asked anew. None adds to what it holds before it is told that it was heard,
   * so what it says that it holds is what it has.
   */
  private noteGrant(
    entry: LaneEntry,
    { parentSince = 0, granted, committed }: LaneReport,
    contact: Contact,
  ): void {
    if (parentSince <= contact.parentSince || entry.granted === null) return;
    contact.parentSince = parentSince;
    if (contact.heard) this.onUndone();
    if (!contact.undone) return;
    contact.undone = false;
    if (typeof granted === 'number') entry.granted = Math.min(entry.granted, Math.max(granted, committed));
  }

  /** This run was reset: what any lane holds has to be asked for anew. */
  private onUndone(): void {
    this.countsAfter = Math.max(1, this.n);
    for (const contact of this.contacts.values())
      Object.assign(contact, { heard: false, undone: true, text: '' });
  }

  /** Whether everything that this lane has bought is known. */
  isHeard({ lane }: LaneEntry): boolean {
    return this.contactOf(lane).heard;
  }

  /** It is told once more what it was told. */
  repeat({ lane }: LaneEntry): void {
    this.contactOf(lane).text = '';
  }

  /** When a lane that could not be started is tried again, in workflow time; Infinity when there is none. */
  nextAt(now: number): number {
    const times = [...this.contacts.values()].map(({ notBefore }) => notBefore);
    return Math.min(Infinity, ...times.filter((time) => time > now));
  }

  /** Sends orders when they differ from those sent last, or when the lane should show that it lives. */
  send(entry: LaneEntry, orders: Orders, again: boolean): void {
    const contact = this.contactOf(entry.lane);
    const text = JSON.stringify(orders);
    const news = contact.text !== text || again || (contact.closed && orders.leases.length > 0);
    if (contact.busy || !news || Date.now() < contact.notBefore) return;
    contact.busy = true;
    this.n = Math.max(this.n + 1, Date.now());
    const { n, campaignRun, run } = this;
    const numbered: LaneOrders = { ...orders, n, campaignRun, parentRun: run, heard: entry.ordersSeen };
    entry.ordersN = this.n;
    if (contact.firstN === 0) contact.firstN = n;
    if (entry.frozenBy === Infinity) entry.frozenBy = this.n;
    void this.deliver(entry, numbered, contact).then(
      (sent) => {
        contact.text = sent ? text : '';
        contact.busy = false;
        this.onChange();
      },
      () => {
        contact.busy = false;
        this.onChange();
      },
    );
  }

  private contactOf(lane: number): Contact {
    let contact = this.contacts.get(lane);
    if (contact === undefined) {
      contact = {
        text: '',
        busy: false,
        closed: false,
        notBefore: 0,
        known: false,
        retires: false,
        heard: false,
        undone: false,
        parentSince: 0,
        firstN: 0,
      };
      this.contacts.set(lane, contact);
    }
    return contact;
  }

  private async deliver(entry: LaneEntry, orders: LaneOrders, contact: Contact): Promise<boolean> {
    if (entry.lives === 0) return this.start(entry, orders, contact);
    if (await this.signal(entry.lane, orders)) return true;
    // A lane that has nothing to do may have ended.
    if (orders.last) return true;
    // It closed: terminated, or failed. What it bought stands in the journal, so that its open pages are begun anew.
    bury(entry, Date.now());
    this.onLost(entry);
    contact.heard = false;
    const { segmentsSeen, granted } = entry;
    return this.start(entry, { ...orders, segmentsSeen, granted }, contact);
  }

  /** A lane of a campaign under this id that is over, which it does not know: it buys nothing more. */
  retire(lane: unknown): void {
    if (typeof lane !== 'number' || !Number.isInteger(lane) || lane < 0 || lane >= MAX_LANES) return;
    void this.signal(lane, { campaignRun: this.campaignRun });
  }

  /** Tells all lanes that there may be which campaign this is. Returns when those of another one have ended. */
  async strangersEnd(): Promise<void> {
    const ended = async (lane: number): Promise<void> => {
      for (let round = 0; !this.contactOf(lane).known; round++) {
        if (!(await this.signal(lane, { campaignRun: this.campaignRun }))) return;
        await sleep(Math.min(LONGEST_ROUND_MS, RETIRE_MS * 2 ** Math.max(0, round - SHORT_ROUNDS)));
      }
    };
    await Promise.all(Array.from({ length: MAX_LANES }, (_, lane) => ended(lane)));
  }

  private async signal(lane: number, orders: LaneOrders | Pick<LaneOrders, 'campaignRun'>): Promise<boolean> {
    try {
      const handle = getExternalWorkflowHandle(laneWorkflowId(this.campaign, lane));
      await handle.signal(SIGNAL.campaignOrders, orders);
      return true;
    } catch {
      return false;
    }
  }

  private async start(entry: LaneEntry, orders: LaneOrders, contact: Contact): Promise<boolean> {
    const { priorityKey, fairnessWeight } = this.priority;
    const life = entry.lives + 1;
    try {
      const child = await startChild<typeof campaignLane>(WORKFLOW.campaignLane, {
        workflowId: laneWorkflowId(this.campaign, entry.lane),
        args: [
          {
            campaign: this.campaign,
            campaignRun: this.campaignRun,
            lane: entry.lane,
            settings: this.settings,
            orders,
            life,
            committed: entry.booked,
          },
        ],
        // A campaign continues as new, and its lanes go on meanwhile (design 4.11).
        parentClosePolicy: ParentClosePolicy.ABANDON,
        cancellationType: ChildWorkflowCancellationType.ABANDON,
        priority: {
          fairnessKey: fairnessKeyOf(this.campaign),
          ...(priorityKey !== undefined && { priorityKey }),
          ...(fairnessWeight !== undefined && { fairnessWeight }),
        },
      });
      begun(entry, life);
      contact.closed = false;
      if (contact.retires) this.onLost(entry);
      contact.retires = false;
      const onClose = () => {
        contact.closed = true;
        this.onChange();
      };
      void child.result().then(onClose, onClose);
      return true;
    } catch {
      // One with this id is there: of a run of this campaign before a reset, which goes on, or of another, which ends.
      const reached = await this.signal(entry.lane, orders);
      contact.retires ||= reached;
      if (reached) contact.notBefore = Date.now() + RETIRE_MS;
      return false;
    }
  }
}
