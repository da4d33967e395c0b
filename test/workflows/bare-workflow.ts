import { workflowInfo } from '@temporalio/workflow';

/** The least that a bundle can hold: what the SDK itself weighs. */
export async function bareWorkflow(): Promise<string> {
  return workflowInfo().workflowType;
}
