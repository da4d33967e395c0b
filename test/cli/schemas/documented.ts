import { type z } from 'zod';

/** Fails unless a value is what a schema describes and holds nothing that the schema does not name. */
export function expectDocumented(schema: z.ZodType, value: unknown): void {
  // Fields that are not named are dropped by a reading, so the two differ then.
  expect(schema.parse(value)).toEqual(value);
}
