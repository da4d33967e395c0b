import { z } from 'zod';

const header = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a header, such as Idempotency-Key');

/** Shape of `idempotency`, in MEDIA_CREATE_POLICY and in a model of MEDIA_MODELS. */
export const idempotencyPolicySchema = z
  .union([
    z.literal('off'),
    z.strictObject({
      header,
      honoured: z.literal(true),
      // A create may be in flight for a minute: a shorter window leaves no time to send again.
      windowSeconds: z.int().min(120).max(31_536_000),
    }),
    z.strictObject({ header }),
  ])
  .describe(
    'off, or the header that carries a key; with honoured and windowSeconds you vouch that the service makes one task of all calls with one key that arrive within so many seconds of the first',
  );
