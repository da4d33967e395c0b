// An agent of the AI SDK (npm install ai zod) that may buy a film: a tool call starts a workflow under the id of the order.
import { type Client } from '@temporalio/client';
import { generateText, type LanguageModel, stepCountIs, tool } from 'ai';
import { CreationKeyConflictError, TemporalMediaClient } from 'temporal-media/client';
import { z } from 'zod';

export interface FilmOrder {
  /** One order buys one film, however often the agent runs and whatever the model requests. */
  readonly id: string;
  readonly wish: string;
  readonly taskQueue?: string;
}

export async function filmAgent(model: LanguageModel, client: Client, order: FilmOrder) {
  const media = new TemporalMediaClient(client, { taskQueue: order.taskQueue ?? 'temporal-media' });
  const makeFilm = tool({
    description:
      'Makes a film of two seconds from a prompt, once. Returns the SHA-256 of its file, or why there is none.',
    inputSchema: z.object({ prompt: z.string().min(1).max(500) }),
    execute: async ({ prompt }) => {
      const request = { model: 'cine-1', prompt, durationSeconds: 2 };
      try {
        const started = await media.startVideo({ request, waitFor: '15m' }, { id: order.id });
        const film = await started.result();
        return film.outcome === 'completed' ? { film: film.artifact.sha256 } : { none: film.outcome };
      } catch (error) {
        // Returned as a value, so that the model can continue. An error would end the agent, which may run again.
        if (error instanceof CreationKeyConflictError)
          return { none: 'This order has another film already.' };
        throw error;
      }
    },
  });
  return generateText({ model, prompt: order.wish, tools: { makeFilm }, stopWhen: stepCountIs(5) });
}
