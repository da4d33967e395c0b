import { patched, sleep } from '@temporalio/workflow';

/** A workflow of a user that was changed while it ran: workflows that run go on in the old way. */
export async function twoPosters(): Promise<string> {
  if (patched('a-pause-between')) await sleep(1, { summary: 'a pause between the posters' });
  await sleep(1, { summary: 'poster 2 of 2' });
  return 'done';
}
