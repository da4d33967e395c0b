import { z } from 'zod';
import { type CampaignRecord } from '../domain/campaign/budget-book';
import { parseRecord } from './records';

const written = { v: z.literal(1), at: z.string() };
/** Micro-units are exact integers. */
const money = z.int();
const number = z.int().min(0);

const book = z.object({
  ...written,
  kind: z.literal('book'),
  nonce: z.string(),
  closed: money,
  open: z.array(z.tuple([number, money.min(0).nullable()])),
  next: number,
});
const batch = z.object({
  ...written,
  kind: z.literal('batch'),
  nonce: z.string(),
  rows: z.array(
    z.object({
      index: z.string(),
      page: number,
      generation: number,
      size: number,
      rows: z
        .string()
        .regex(/^[0-9a-f]*$/)
        .exactOptional(),
      started: z.number().exactOptional(),
    }),
  ),
});
const owner = z.object({ ...written, kind: z.literal('owner'), run: z.string() });
const fence = z.object({ ...written, kind: z.literal('fence'), nonce: z.string() });
const free = z.object({ ...written, kind: z.literal('free'), by: z.string(), deducts: z.boolean() });
const spend = z.object({ ...written, kind: z.literal('spend'), nonce: z.string(), spent: money.min(0) });

const record = z.discriminatedUnion('kind', [book, batch, owner, fence, free, spend]);

export const parseCampaignRecord = (text: string): CampaignRecord =>
  parseRecord(record, text, 'record of a campaign');
