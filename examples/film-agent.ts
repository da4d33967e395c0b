// An AI SDK agent (npm install ai zod) that can buy a film: its tool call starts a workflow under the order's id.
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
      'Makes one two-second film from a prompt. Returns the SHA-256 of its file, or why there is no film.',
    inputSchema: z.object({ prompt: z.string().min(1).max(500) }),
    execute: async ({ prompt }) => {
      const request = { model: 'cine-1', prompt, durationSeconds: 2 };
      try {
        const started = await media.startVideo({ request, waitFor: '15m' }, { id: order.id });
        const film = await started.result();
        return film.outcome === 'completed' ? { film: film.artifact.sha256 } : { none: film.outcome };
      } catch (error) {
        // Returned as a value so that the model can continue. An error would end the agent, which might be run again.
        if (error instanceof CreationKeyConflictError)
          return { none: 'This order already has a different film.' };
        throw error;
      }
    },
  });
  return generateText({ model, prompt: order.wish, tools: { makeFilm }, stopWhen: stepCountIs(5) });
}
