import { CREATE_TIMEOUTS } from '../../../src/domain/timeouts';

export * from '../../../src/workflows';

/** The workflows of the package whose creates have so little time that their own timer can be waited for. */
export const CEILING = { httpBudgetMs: 4_000, startToCloseMs: 15_000, raceMarginMs: 1_000 };
Object.assign(CREATE_TIMEOUTS, CEILING);
