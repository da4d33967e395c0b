import { ApplicationFailure, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { type VideoOutcome } from '../../../src/domain';
import { type GenerateVideoInput } from '../../../src/domain/workflow-inputs';
import { executeVideo } from '../../../src/workflows';

export * from '../../../src/workflows';

/** What a run says about itself: the facts that a derived creation key is made of. */
export interface RunFacts {
  readonly attempt: number;
  readonly runId: string;
  readonly first: string;
  readonly original: string;
  readonly continuedFrom: string | undefined;
}

const here = () => ({ taskQueue: workflowInfo().taskQueue });

function runFacts(): RunFacts {
  const info = workflowInfo();
  return {
    attempt: info.attempt,
    runId: info.runId,
    first: info.firstExecutionRunId,
    original: info.originalExecutionRunId,
    continuedFrom: info.continuedFromExecutionRunId,
  };
}

export interface Bought {
  readonly facts: RunFacts;
  readonly outcomes: readonly VideoOutcome[];
}

/** Buys one video and ends. */
export async function buyOne(input: GenerateVideoInput): Promise<Bought> {
  return { facts: runFacts(), outcomes: [await executeVideo(input, here())] };
}

/** Asks for the same video twice: two ordinals, two authorisations. */
export async function buyTwice(input: GenerateVideoInput): Promise<Bought> {
  return {
    facts: runFacts(),
    outcomes: [await executeVideo(input, here()), await executeVideo(input, here())],
  };
}

/** Buys, then fails until the given attempt: the retry policy of the workflow runs it again. */
export async function buyThenFail(input: GenerateVideoInput, untilAttempt: number): Promise<Bought> {
  const outcomes = [await executeVideo(input, here())];
  if (workflowInfo().attempt < untilAttempt) throw ApplicationFailure.retryable('try the whole run again');
  return { facts: runFacts(), outcomes };
}

/** Continues as new without buying, fails once there, and then buys in a run that cannot tell whose retry it is. */
export async function continueThenFailThenBuy(input: GenerateVideoInput, round = 0): Promise<Bought> {
  if (round === 0) return continueAsNew<typeof continueThenFailThenBuy>(input, 1);
  if (workflowInfo().attempt < 2) throw ApplicationFailure.retryable('try this run again');
  return { facts: runFacts(), outcomes: [await executeVideo(input, here())] };
}
