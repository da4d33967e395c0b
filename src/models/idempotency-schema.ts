import { z } from 'zod';
import { KEY_HEADER, KEY_WINDOW } from '../domain/create-policy';

const header = z.string().regex(KEY_HEADER, 'must be the name of a header, such as Idempotency-Key');

/** Shape of `idempotency`, in MEDIA_CREATE_POLICY and in a model of MEDIA_MODELS. */
export const idempotencyPolicySchema = z
  .union([
    z.literal('off'),
    z.strictObject({
      header,
      honoured: z.literal(true),
      windowSeconds: z.int().min(KEY_WINDOW.least).max(KEY_WINDOW.most),
    }),
    z.strictObject({ header }),
  ])
  .describe(
    'off, or the header that carries a key; with honoured and windowSeconds you vouch that the service makes one task of all calls with one key that arrive within so many seconds of the first',
  );
