import { z } from 'zod';
import { type JsonValue } from '../../src/domain/json';

const json: z.ZodType<JsonValue> = z.json();
const common = {
  /** One sentence: what is odd about this answer, and who sends it. */
  why: z.string().min(1),
  httpStatus: z.int().min(200).max(599).optional(),
  /** What the client must make of it; left out, the test fails and prints what it makes of it today. */
  expected: json.optional(),
};
const http = { ...common, headers: z.record(z.string(), z.string()).optional() };

const schema = z.discriminatedUnion('kind', [
  z.strictObject({ ...common, kind: z.literal('record'), body: json }),
  z.strictObject({ ...common, kind: z.literal('error'), body: json }),
  z.strictObject({ ...http, kind: z.literal('create'), body: json }),
  z.strictObject({ ...http, kind: z.literal('image'), body: json }),
  z.strictObject({ ...http, kind: z.literal('content'), body: json.optional(), bodyHex: z.hex().optional() }),
]);

/** An answer as some service sends it, and what the client makes of it: one file of test/fixtures/wire. */
export type WireFixture = z.infer<typeof schema> & { readonly name: string };

const ALLOWED = `Allowed: {
  "why": "one sentence",
  "kind": "record" (of a task) | "error" (body of an error reply) | "create" | "image" | "content" (answers over HTTP),
  "httpStatus": 200 to 599, if it matters,
  "headers": {"name": "text"}, for create, image and content,
  "body": any JSON; a text goes over the wire as it is; or "bodyHex": "0a0b" for bytes of content,
  "expected": what the client makes of it; leave it out and the test prints it
}`;

/** @throws Error that names the file, what is wrong in it, and what is allowed. */
export function readWireFixture(name: string, text: string): WireFixture {
  const wrong = (what: string) => new Error(`test/fixtures/wire/${name}: ${what}\n${ALLOWED}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(`no JSON (${(error as Error).message})`);
  }
  const read = schema.safeParse(value);
  if (read.success) return { ...read.data, name };
  throw wrong(
    read.error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`).join('; '),
  );
}

/** For a fixture without `expected`: what to paste into it, if that is right. */
export function missingExpectation(name: string, actual: unknown): Error {
  const lines = JSON.stringify({ expected: actual }, null, 2).slice(2, -2);
  const error = new Error(
    `test/fixtures/wire/${name} has no "expected". If this is right, paste it:\n${lines}`,
  );
  // Lines of this file would only hide the lines to paste.
  error.stack = error.message;
  return error;
}
