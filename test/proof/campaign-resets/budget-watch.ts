import { setTimeout as delay } from 'node:timers/promises';
import { type WorkflowHandle } from '@temporalio/client';
import { type BudgetState } from '../../../src/domain/campaign/campaign-state';
import { campaignStateOf } from '../../support/campaign';

export interface BudgetWatch {
  /** @returns what was wrong with any budget that was seen */
  end(): Promise<{ readonly looks: number; readonly problems: readonly string[] }>;
}

const EVERY_MS = 500;

/** Asks a campaign for its budget until it is told to end: no part may be negative, and the parts make the total. */
export function watchBudget(handle: WorkflowHandle): BudgetWatch {
  const problems = new Set<string>();
  let looks = 0;
  let ended = false;
  async function look(): Promise<void> {
    while (!ended) {
      // Between two runs nobody answers.
      const budget = await campaignStateOf(handle).then(
        (state) => state.budget,
        () => null,
      );
      if (budget !== null) {
        looks += 1;
        for (const problem of wrongIn(budget)) problems.add(problem);
      }
      await delay(EVERY_MS);
    }
  }
  const lenientClient = look();
  return {
    end: async () => {
      ended = true;
      await lenientClient;
      return { looks, problems: [...problems] };
    },
  };
}

export function wrongIn({ total, spent, reserved, review, free }: BudgetState): string[] {
  const parts = { spent, reserved, review, free };
  const wrong = Object.entries(parts).flatMap(([name, part]) =>
    part < 0 ? [`${part} micro-units ${name} are shown`] : [],
  );
  const sum = spent + reserved + review + free;
  if (sum !== total.microUnits) wrong.push(`${sum} micro-units are shown of ${total.microUnits}`);
  return wrong;
}
