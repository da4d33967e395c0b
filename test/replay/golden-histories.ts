import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const GOLDEN = join(__dirname, '..', 'golden');
const MANIFEST = 'manifest.json';
/** Keeps line ends as they are, so that hashes hold on every system. */
const ATTRIBUTES = '.gitattributes';

/** One event as protojson writes it: `eventId`, `eventType`, `eventTime` and one `…EventAttributes` object. */
export interface GoldenEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventTime: string;
  readonly [attributes: string]: unknown;
}

export interface GoldenHistory {
  readonly file: string;
  readonly text: string;
  /** As the replayer takes it. */
  readonly json: { readonly events: readonly GoldenEvent[] };
  readonly workflowId: string;
  readonly workflowType: string;
}

/** Files that lie in test/golden besides the manifest. */
export function goldenFiles(): string[] {
  return readdirSync(GOLDEN)
    .filter((file) => file !== MANIFEST && file !== ATTRIBUTES)
    .sort();
}

/** Release, or `unreleased` → name → SHA-256 of every history that was ever recorded. */
export function goldenManifest(): Record<string, Record<string, string>> {
  return JSON.parse(readFileSync(join(GOLDEN, MANIFEST), 'utf8')) as Record<string, Record<string, string>>;
}

export function goldenSha256(file: string): string {
  return createHash('sha256')
    .update(readFileSync(join(GOLDEN, file)))
    .digest('hex');
}

export function goldenHistory(file: string): GoldenHistory {
  const text = readFileSync(join(GOLDEN, file), 'utf8');
  const json = JSON.parse(text) as GoldenHistory['json'];
  const started = json.events[0]?.['workflowExecutionStartedEventAttributes'] as StartedAttributes;
  return { file, text, json, workflowId: started.workflowId, workflowType: started.workflowType.name };
}

interface StartedAttributes {
  readonly workflowId: string;
  readonly workflowType: { readonly name: string };
}

export interface PayloadJson {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly data?: string;
}

/** Bytes of a payload as they cross the wire, without their metadata. */
export function payloadBytes(payload: PayloadJson): number {
  return Buffer.from(payload.data ?? '', 'base64').length;
}

/** What a JSON payload holds; undefined for an empty one. */
export function payloadValue(payload: PayloadJson | undefined): unknown {
  const text = Buffer.from(payload?.data ?? '', 'base64').toString();
  return text === '' ? undefined : JSON.parse(text);
}

/** Attributes of all events that have these attributes, in order. */
export function attributesOf<Attributes>(history: GoldenHistory, name: string): Attributes[] {
  return history.json.events.flatMap((event) =>
    event[name] === undefined ? [] : [event[name] as Attributes],
  );
}

/** The `outcome` that the workflow of this history returned; undefined when it returned none. */
export function goldenOutcome(history: GoldenHistory): string | undefined {
  const [end] = attributesOf<{ readonly result?: { readonly payloads?: readonly PayloadJson[] } }>(
    history,
    'workflowExecutionCompletedEventAttributes',
  );
  return (payloadValue(end?.result?.payloads?.[0]) as { outcome?: string } | undefined)?.outcome;
}
