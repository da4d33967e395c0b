import { CREATE_TIMEOUTS, IMAGE_TIMEOUTS } from '../../../src/domain/timeouts';

export * from '../../../src/workflows';

/** The workflows of the package whose paid calls may take seconds, so that their limits can be waited for. */
export const SHORT = { startToCloseMs: 5_000, httpBudgetMs: 4_000 };
Object.assign(CREATE_TIMEOUTS, { httpBudgetMs: SHORT.httpBudgetMs, raceMarginMs: 1_000 });
Object.assign(IMAGE_TIMEOUTS, SHORT);
