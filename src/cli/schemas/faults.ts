import { z } from 'zod';
import { SANDBOX_OPERATIONS } from '../../testing/sandbox/faults';

const replyFields = {
  status: z.number(),
  headers: z.exactOptional(z.record(z.string(), z.string())),
  body: z.exactOptional(z.unknown()),
  raw: z.exactOptional(z.string()).describe('text instead of a JSON body'),
  contentType: z.exactOptional(z.string()),
};

const action = z.discriminatedUnion('type', [
  z.object({ type: z.literal('status'), ...replyFields }).describe('this reply is sent; nothing is accepted'),
  z
    .object({ type: z.literal('accept_then_status'), ...replyFields })
    .describe('accepted and counted, then this reply is sent'),
  z
    .object({
      type: z.literal('lose_reply'),
      accepted: z.boolean(),
      how: z.enum(['reset', 'close', 'stall', 'stall_body', 'cut_body']),
    })
    .describe('the body is read, accepted or not, and the reply is lost'),
  z.object({ type: z.literal('reset_early') }).describe('the connection is reset before the body is read'),
  z.object({ type: z.literal('delay'), ms: z.number() }).describe('combines with the next rule that matches'),
  z.object({ type: z.literal('slow_body'), bytesPerSecond: z.number() }),
  z.object({ type: z.literal('cut_body'), afterBytes: z.number(), how: z.enum(['reset', 'close']) }),
  z.object({ type: z.literal('truncate'), bytes: z.number() }),
  z.object({ type: z.literal('json_page') }).describe('status 200 and a media type, but an error page'),
  z.object({ type: z.literal('html_page') }),
  z.object({
    type: z.literal('not_ready'),
    status: z.exactOptional(z.union([z.literal(400), z.literal(404), z.literal(409)])),
  }),
  z.object({ type: z.literal('expired') }),
  z.object({ type: z.literal('redirect'), location: z.string(), status: z.exactOptional(z.number()) }),
  z
    .object({ type: z.literal('record'), patch: z.record(z.string(), z.unknown()) })
    .describe('merged into the record of a poll; null removes a field'),
  z.object({
    type: z.literal('task_fails'),
    error: z.exactOptional(z.unknown()),
    progress: z.exactOptional(z.number()),
  }),
  z.object({ type: z.literal('status_word'), status: z.string() }),
]);

/** A fault file of `temporal-media sandbox --faults`: the first rule that matches wins. */
export const faults = z.array(
  z.object({
    operation: z.enum(SANDBOX_OPERATIONS),
    promptIncludes: z.exactOptional(z.string()),
    model: z.exactOptional(z.string()),
    taskId: z.exactOptional(z.string()),
    skip: z.exactOptional(z.number()).describe('matching requests that pass first (default 0)'),
    every: z
      .exactOptional(z.number())
      .describe(
        'afterwards, one of this many matching requests fails: 500 is a fault rate of 0.2 % (default 1)',
      ),
    times: z.exactOptional(z.number()).describe('how often the rule applies; 0 is always (default 1)'),
    action,
  }),
);
