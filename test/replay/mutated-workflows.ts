import { sleep } from '@temporalio/workflow';
import { type VideoOutcome } from '../../src/domain';
import { type GenerateVideoInput } from '../../src/domain/workflow-inputs';
import { generateVideo as original } from '../../src/workflows';

export * from '../../src/workflows';

/** Today's workflow after a careless change: one more timer. Golden histories must not replay against it. */
export async function generateVideo(input: GenerateVideoInput): Promise<VideoOutcome> {
  await sleep('1 second');
  return original(input);
}
