import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type JsonValue } from '../../src/domain/json';
import { readImageReply } from '../../src/service/read-replies';
import { createRedactor } from '../../src/service/redact';
import { asText, readTaskError } from '../../src/service/task-error';
import { phaseOf, statusValue } from '../../src/service/video-record';
import { clientOf, jsonBody, send } from '../service/client-under-test';
import { loopback } from '../service/loopback-service';
import { readRecord } from '../service/read-record';
import { readWireFixture, type WireFixture } from '../support/wire-fixture';
import { mutated } from './mutated-json';

const FOLDER = join(__dirname, '../fixtures/wire');
const fixtures = readdirSync(FOLDER).map((name) =>
  readWireFixture(name, readFileSync(join(FOLDER, name), 'utf8')),
);
const context = { baseUrl: 'https://api.example/base', redactor: createRedactor([]) };
const KINDS = ['moderation', 'capacity', 'invalid', 'quota', 'unknown'];

/** Bodies of the fixtures of a kind, changed in one to four places; with the fixture they came from. */
function variants(kind: WireFixture['kind']): fc.Arbitrary<{ fixture: WireFixture; body: JsonValue }> {
  const all = fixtures.filter(
    (one) => one.kind === kind && typeof one.body === 'object' && one.body !== null,
  );
  return fc
    .constantFrom(...all)
    .chain((fixture) => mutated(fixture.body ?? null).map((body) => ({ fixture, body })));
}

/** Every value in a body with its name, at any depth, also in JSON in a text. */
function valuesIn(value: JsonValue, name = ''): readonly (readonly [name: string, value: JsonValue])[] {
  let inner = value;
  try {
    if (typeof value === 'string') inner = JSON.parse(value) as JsonValue;
  } catch {
    // A text.
  }
  if (typeof inner !== 'object' || inner === null) return [[name, value]];
  return [
    [name, value] as const,
    ...Object.entries(inner).flatMap(([key, one]: [string, JsonValue]) => valuesIn(one, key)),
  ];
}

/** Every status word in a body. */
const wordsIn = (body: JsonValue) =>
  valuesIn(body).flatMap(([, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [statusValue(String(value))] : [],
  );

/** Every id in a body. */
const idsIn = (body: JsonValue) =>
  valuesIn(body).flatMap(([name, value]) => (/^(?:id|task_?id)$/i.test(name) ? [asText(value)] : []));

describe('variants that nobody has seen yet', () => {
  it('[C2.2.2] [C2.2.8] [C9.2] a record is read, and says only what it holds', () => {
    fc.assert(
      fc.property(variants('record'), ({ body }) => {
        const reading = readRecord(body);
        if (reading === undefined) return;
        const { record, resultUrls } = reading;
        // No phase but that of a word that is there.
        if (record.phase !== 'unknown' && record.error?.code !== 'respect_moderation')
          expect(wordsIn(body).map(phaseOf)).toContain(record.phase);
        if (record.progress !== undefined) {
          expect(record.progress).toBeGreaterThanOrEqual(0);
          expect(record.progress).toBeLessThanOrEqual(100);
        }
        if (record.phase === 'failed') expect(KINDS).toContain(record.error?.kind);
        for (const url of resultUrls) expect(url).toMatch(/^(?:https?:\/\/[^/]|data:)/i);
        expect(JSON.parse(JSON.stringify(reading))).toEqual(reading);
      }),
      { numRuns: 2_000 },
    );
  });

  it('[C2.2.2] a record that lost its status word is unknown, not final', () => {
    const records = fixtures.filter((one) => one.kind === 'record');
    for (const { body } of records) {
      if (typeof body !== 'object' || body === null || Array.isArray(body)) continue;
      const { status, ...rest } = body as Record<string, JsonValue>;
      const lost = [
        rest,
        { ...rest, status: null },
        { ...rest, status: [status ?? null] },
        { ...rest, state_2: status },
      ];
      for (const one of lost as JsonValue[]) {
        const { phase = 'unknown' } = readRecord(one)?.record ?? {};
        // Inside it there may be another one.
        if (wordsIn(rest).every((word) => phaseOf(word) === 'unknown'))
          expect([one, phase]).toEqual([one, 'unknown']);
      }
    }
  });

  it('[C7.13] an error is read, its kind is one of five', () => {
    fc.assert(
      fc.property(variants('error'), ({ fixture, body }) => {
        const error = readTaskError(body, context.redactor, fixture.httpStatus);
        expect(KINDS).toContain(error.kind);
        for (const text of [error.code, error.message]) expect(text === null || text !== '').toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('[C2.5.2] an image reply has an item per result, readable or said not to be', () => {
    fc.assert(
      fc.property(variants('image'), ({ body }) => {
        const reply = readImageReply(body, context);
        const data = (body as Record<string, JsonValue>)['data'];
        expect(reply?.items.length).toBe(Array.isArray(data) ? data.length : undefined);
        for (const item of reply?.items ?? []) {
          expect(['url', 'b64', 'unreadable']).toContain(item.kind);
          if (item.kind === 'url') expect(item.url).toMatch(/^(?:https?:\/\/|data:)/i);
        }
        const created = reply?.created ?? 0;
        expect(Number.isInteger(created) && created >= 0).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('[C2.2.1] a create reply names its own id or leaves the create unconfirmed, never to be sent again', async () => {
    let answer: { status: number; body: JsonValue } = { status: 200, body: null };
    const service = await loopback((_request, response) => {
      response.writeHead(answer.status).end(JSON.stringify(answer.body));
    });
    const client = clientOf(service.origin);
    try {
      await fc.assert(
        fc.asyncProperty(
          variants('create'),
          fc.constantFrom(200, 500, 502, 504),
          async ({ body }, status) => {
            answer = { status, body };
            const result = await client.createVideo(jsonBody(), send());
            if (result.class === 'accepted') {
              expect(status).toBe(200);
              expect(idsIn(body)).toContain(result.taskId);
            } else if (status === 200) expect(result.class).toBe('unconfirmed');
            else expect(['unconfirmed', 'rejected']).toContain(result.class);
          },
        ),
        { numRuns: 400 },
      );
    } finally {
      await client.close();
      await service.close();
    }
  });
});
