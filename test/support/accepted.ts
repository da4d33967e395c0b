import { promptHash } from '../../packages/sandbox/src';
import { type MediaStack } from './media-stack';

/** How many paid calls with this prompt the service accepted: its own count, in its own process. */
export async function accepted(stack: MediaStack, prompt: string): Promise<number> {
  return (await stack.sandbox.admin.counters()).acceptedByPromptHash[promptHash(prompt)] ?? 0;
}

/** How many paid calls with this prompt reached the service, accepted or not. */
export async function received(stack: MediaStack, prompt: string): Promise<number> {
  const requests = await stack.sandbox.admin.requests();
  return requests.filter((request) => (request.json as { prompt?: unknown } | undefined)?.prompt === prompt)
    .length;
}
