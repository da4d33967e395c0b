import { z } from 'zod';
import { artifactRef, billing } from './outcome-parts';
import { cancelled, rejected, unconfirmed } from './paid-ends';

const created = z.number().nullable().describe('Unix time in seconds, as the service said');

/** Every way an image call ends. */
export const imageOutcome = z.discriminatedUnion('outcome', [
  z
    .object({
      outcome: z.literal('completed'),
      images: z.array(artifactRef),
      created,
      warnings: z.array(z.string()),
      billing,
    })
    .describe('every result is stored, in order'),
  z
    .object({
      outcome: z.literal('results_lost'),
      creationKey: z.string(),
      images: z.array(artifactRef.nullable()),
      created,
      reason: z.string(),
      message: z.string(),
      fetchable: z
        .boolean()
        .describe('the same id, started again, fetches what is missing; nothing is sent for that'),
      billing,
    })
    .describe('paid for, but results could not be kept; null for each that is lost'),
  unconfirmed,
  rejected,
  cancelled,
]);
