import { sleep } from '@temporalio/workflow';

/** The same after somebody has removed the patch and the pause with it. */
export async function twoPosters(): Promise<string> {
  await sleep(1, { summary: 'poster 2 of 2' });
  return 'done';
}
