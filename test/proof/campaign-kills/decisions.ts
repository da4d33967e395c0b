import { type WorkflowHandle } from '@temporalio/client';
import { type CampaignState, type CampaignUpdateResult } from '../../../src/domain/campaign/campaign-state';
import { type ResultsRef } from '../../../src/domain/campaign/results';
import { type CampaignRowResult } from '../../../src/domain/campaign/row';
import { QUERY, UPDATE } from '../../../src/domain/names';
import { resultsOf, type Row } from '../../support/campaign';
import { type MediaStack } from '../../support/media-stack';
import { serviceRows } from './judge';

const WHO = { by: 'the operator of the test', reason: 'read in the log of the service' };

/** Decisions while it runs, and all others after its end. */
const DURING = 6;

interface Decided {
  readonly creationKey: string;
  readonly how: 'adopted' | 'declared lost';
}

/**
 * What an operator does about rows that were set aside: looks into the service's log, adopts the task that was accepted
 * and declares lost what was not. An image call that was accepted makes no task, so that it stays set aside.
 */
export class Decisions {
  /** By the id of the row: it was set aside, and this was decided. */
  readonly decided = new Map<string, Decided>();
  readonly problems: string[] = [];

  constructor(
    private readonly stack: MediaStack,
    private readonly campaign: string,
    private readonly rows: readonly Row[],
  ) {}

  /** By Updates of the campaign while it runs: a few of the rows that are set aside. */
  async decideSome(handle: WorkflowHandle): Promise<void> {
    const state = await handle.query<CampaignState>(QUERY.campaignState).catch(() => undefined);
    if (state === undefined || (state.counts.unconfirmed ?? 0) === 0) return;
    // Each of them is a plan of its own.
    const open = (await this.open(state.results)).slice(0, DURING - this.decided.size);
    for (const { row, creationKey, taskId } of open) {
      const { unconfirmed } = await this.stack.media.reviewJournal({ list: 'unconfirmed', creationKey });
      const sendId = unconfirmed[0]?.evidence.sendId;
      const call = { key: row.key, creationKey, sendId, ...WHO };
      const [name, input] =
        taskId === null ? [UPDATE.declareLost, call] : [UPDATE.adopt, { ...call, taskId }];
      const answer = await handle
        .executeUpdate<CampaignUpdateResult, [object]>(name, { args: [input] })
        .catch(() => undefined);
      // The campaign may have ended in that moment.
      if (answer === undefined) return;
      // The service is away now and then: that is a part of the script.
      if (!answer.accepted && answer.message.endsWith('Try again.')) continue;
      if (!answer.accepted) this.problems.push(`${name} of ${creationKey}: ${answer.message}`);
      this.decided.set(row.key, { creationKey, how: taskId === null ? 'declared lost' : 'adopted' });
    }
  }

  /** After its end, by workflows of their own: all that are left. */
  async decideRest(results: ResultsRef): Promise<void> {
    for (const { row, creationKey, taskId } of await this.open(results)) {
      const decision = {
        creationKey,
        ...WHO,
        ...(taskId === null ? { decision: 'declareLost' as const } : { decision: 'adopt' as const, taskId }),
      };
      let answer = await this.stack.media.resolveUnconfirmed(decision);
      // The service is away now and then: that is a part of the script.
      for (let tries = 1; tries < 5 && !answer.resolved && answer.reason === 'service_unavailable'; tries++)
        answer = await this.stack.media.resolveUnconfirmed(decision);
      if (!answer.resolved) this.problems.push(`${creationKey}: ${answer.message}`);
      this.decided.set(row.key, { creationKey, how: taskId === null ? 'declared lost' : 'adopted' });
    }
  }

  /** Rows that are set aside and undecided, with the task that the service has for them and nobody owns. */
  private async open(results: ResultsRef) {
    const lines = await resultsOf(this.stack, results);
    const service = await serviceRows(this.stack, this.rows);
    const owned = new Set(
      [...lines.values()].flatMap(({ ledger }) => ledger.flatMap(({ taskId }) => taskId ?? [])),
    );
    return [...lines.values()].flatMap((row) => {
      if (row.outcome !== 'unconfirmed' || this.decided.has(row.key)) return [];
      const seen = service.get(row.key);
      const taskId = seen?.taskIds.find((id) => !owned.has(id)) ?? null;
      if (row.operation !== 'create_video' && (seen?.accepted ?? 0) > 0) return [];
      return [{ row, creationKey: openKeyOf(row, this.campaign), taskId }];
    });
  }
}

/** The attempt that was set aside: the last one on the books. */
function openKeyOf({ ledger, key }: CampaignRowResult, campaign: string): string {
  return ledger.at(-1)?.creationKey ?? `media-row/${campaign}/${key}/0`;
}
