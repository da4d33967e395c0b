import { readFileSync } from 'node:fs';
import '../support/quiet-temporal';
import { createRequire } from 'node:module';
import type * as protobuf from 'protobufjs';
import { historyFromProtobuf, historyToProtobuf } from '../../packages/replay/src/history-codec';
import { redactHistory } from '../../packages/replay/src/redact-history';
import { testBundle } from '../support/test-bundle';

/** The protocol as the SDK at hand knows it: a field that a later one adds is in these tests from its first day. */
const root = createRequire(__filename)('@temporalio/proto/protos/json-module.js') as protobuf.Root;
const EVENT = root.lookupType('temporal.api.history.v1.HistoryEvent');
const HISTORY = root.lookupType('temporal.api.history.v1.History');
const PAYLOAD = '.temporal.api.common.v1.Payload';
const CANARY = 'canary-7f3a';
/** A message may contain itself, as the failure does its cause. */
const DEPTH = 9;

/** A message with these fields filled; what a person may have chosen has the canary in it, with the way to the field. */
function filled(
  fields: readonly protobuf.Field[],
  way: string,
  above: readonly string[],
): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const field of fields.map((one) => one.resolve())) {
    const place = `${way}.${field.name}`;
    const one = valueOf(field, place, above);
    if (one === undefined) continue;
    value[field.name] = field.map ? { [`${CANARY} ${place}{}`]: one } : field.repeated ? [one] : one;
  }
  return value;
}

function valueOf(field: protobuf.Field, way: string, above: readonly string[]): unknown {
  const inner = field.resolvedType;
  if (inner !== null && 'fieldsArray' in inner) {
    if (inner.fullName === PAYLOAD) return payload(way);
    const isAgain = above.filter((name) => name === inner.fullName).length > 1;
    return isAgain || above.length > DEPTH
      ? undefined
      : filled(inner.fieldsArray, way, [...above, inner.fullName]);
  }
  if (inner !== null) return Math.max(...Object.values(inner.values));
  if (field.type === 'string') return `${CANARY} ${way}`;
  if (field.type === 'bytes') return Buffer.from(`${CANARY} ${way}`);
  return field.type === 'bool' ? true : 1;
}

function payload(way: string): Record<string, unknown> {
  const text = `${CANARY} ${way}`;
  return {
    metadata: { encoding: Buffer.from('json/plain'), [text]: Buffer.from(text), type: Buffer.from(text) },
    data: Buffer.from(JSON.stringify({ [text]: [text], id: text })),
  };
}

/** One event for each kind of attributes, each with all fields of every event beside them. */
function events(): { readonly name: string; readonly event: Record<string, unknown> }[] {
  const attributes = EVENT.oneofs['attributes']?.fieldsArray.map((one) => one.resolve()) ?? [];
  const common = EVENT.fieldsArray.filter((one) => !attributes.includes(one));
  return attributes.map((field) => ({
    name: field.name,
    event: filled([...common, field], 'event', [EVENT.fullName]),
  }));
}

function eventOf(kind: string): Record<string, unknown> {
  return events().find(({ name }) => name === kind)?.event ?? {};
}

/** The canaries in the bytes of a history, each with the way to its field. */
function canariesIn(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString('latin1');
  return [...new Set(text.match(new RegExp(`${CANARY}[ -~]{0,120}`, 'g')) ?? [])];
}

describe('a redacted history', () => {
  let code: string;
  beforeAll(async () => {
    const bundle = await testBundle();
    code = 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8');
  });

  const bytesOf = (event: Record<string, unknown>): Uint8Array =>
    HISTORY.encode(HISTORY.fromObject({ events: [event] })).finish();
  const redacted = (event: Record<string, unknown>, workflowType: string): Uint8Array => {
    const history = historyFromProtobuf(bytesOf(event));
    const run = { workflowId: 'w', runId: 'r', workflowType, source: 'made here', history };
    return historyToProtobuf(redactHistory(run, code).history);
  };

  it('is tried with every event of the protocol', () => {
    expect(events().length).toBeGreaterThanOrEqual(57);
    const found = events().flatMap(({ event }) => canariesIn(bytesOf(event)));
    // As many fields with text as the protocol has: the ways of some are too long to be told apart.
    expect(new Set(found).size).toBeGreaterThan(500);
  });

  it.each(events().map(({ name, event }) => [name, event] as const))(
    'has nothing that a person can write in %s',
    (_name, event) => {
      expect(canariesIn(bytesOf(event)).length).toBeGreaterThan(0);
      expect(canariesIn(redacted(event, 'somebodysWorkflow'))).toEqual([]);
    },
  );

  it.each(['core_local_activity', 'core_patch', CANARY])(
    'has nothing of it in a marker %s either',
    (markerName) => {
      const event = eventOf('markerRecordedEventAttributes');
      const attributes = { ...(event['markerRecordedEventAttributes'] as object), markerName };
      expect(
        canariesIn(redacted({ ...event, markerRecordedEventAttributes: attributes }, 'somebodysWorkflow')),
      ).toEqual([]);
    },
  );

  it('of a video has the summaries of our own timers and activities, and none of the start', () => {
    const canaries = canariesIn(redacted(eventOf('timerStartedEventAttributes'), 'generateVideo'));
    expect(canaries.length).toBeGreaterThan(0);
    for (const one of canaries) expect(one).toContain('userMetadata');
    expect(canariesIn(redacted(eventOf('workflowExecutionStartedEventAttributes'), 'generateVideo'))).toEqual(
      [],
    );
  });
});
