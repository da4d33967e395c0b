import { readFileSync } from 'node:fs';
import '../support/quiet-temporal';
import path from 'node:path';
import { encodingOf, isPayload } from '../../packages/replay/src/decode-payloads';
import { historyToJson } from '../../packages/replay/src/history-codec';
import { type LoadedRun } from '../../packages/replay/src/loaded-history';
import { readHistoryFile } from '../../packages/replay/src/read-history';
import { redactHistory } from '../../packages/replay/src/redact-history';
import { replayHistories } from '../../packages/replay/src/replay-histories';
import { writtenBy } from '../../packages/replay/src/verdict';
import { VERSION_MEMO } from '../../src/domain/names';
import { testBundle } from '../support/test-bundle';
import { goldenFiles } from './golden-histories';

const GOLDEN = path.resolve(__dirname, '..', 'golden');
/**
 * All campaigns and all with search attributes, whose values the workflow code reads, and every fourth of the others; those
 * of users need their code.
 */
const FILES = goldenFiles()
  .filter((file) => !/^(buyFilm|makePoster)\./.test(file))
  .filter((file, index) => /^(runCampaign|campaignBatch)\.|searchable/.test(file) || index % 4 === 0);
const CANARY = 'canary-7f3a';

/** Every text of a history, of its payloads too. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') return void (yield value);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (isPayload(value)) {
    const text = Buffer.from(value.data ?? []).toString();
    yield text;
    if (encodingOf(value) === 'json/plain' && text !== '') yield* textsIn(JSON.parse(text));
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    yield name;
    yield* textsIn(inner);
  }
}

describe('a history without its contents', () => {
  let code: string;
  beforeAll(async () => {
    const bundle = await testBundle();
    code = 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8');
  });
  const golden = (file: string): Promise<LoadedRun> => readHistoryFile(path.join(GOLDEN, file));

  it('replays as before: golden histories of every workflow', async () => {
    async function* redacted() {
      for (const file of FILES) yield redactHistory(await golden(file), code);
    }
    const other: unknown[] = [];
    for await (const { run, verdict } of replayHistories({ bundle: { code } }, redacted()))
      if (verdict.verdict !== 'identical') other.push([run.source, verdict]);
    expect(other).toEqual([]);
  });

  it('keeps the fields that are named, has the label in the place of the id, and replays as before', async () => {
    const original = await golden('generateVideo.completed-with-references.v1.json');
    const redacted = redactHistory(original, code, { label: 'film-1', keep: ['model', 'currency'] });
    const texts = [...textsIn(redacted.history)].join('\n');
    expect(texts).toContain('motion-omni');
    expect(texts).toContain('USD');
    for (const text of ['it sails', 'golden-recorder', original.workflowId, 'default@'])
      expect(texts).not.toContain(text);
    expect(redacted.workflowId).toBe('film-1');
    expect(texts).toContain('film-1');
    for await (const { verdict } of replayHistories({ bundle: { code } }, [redacted]))
      expect(verdict.verdict).toBe('identical');
  });

  it('[C5.4c] keeps no sentence and no address that stands in a field that is named', async () => {
    const original = await golden('generateVideo.completed-with-references.v1.json');
    const started = original.history.events?.[0]?.workflowExecutionStartedEventAttributes;
    const payload = started?.input?.payloads?.[0];
    const input = JSON.parse(Buffer.from(payload?.data ?? []).toString()) as { request: { model: string } };
    for (const model of ['a red fox', 'https://x.example/f?sig=1', 'https://x.example/f']) {
      input.request.model = model;
      payload!.data = Buffer.from(JSON.stringify(input));
      const { history } = redactHistory(original, code, { keep: ['model'] });
      expect([...textsIn(history)].join('\n')).not.toContain(model);
    }
  });

  it('has nothing of the prompt, the ids, the model, the account and the machine', async () => {
    const original = await golden('generateVideo.completed-with-references.v1.json');
    const before = [...textsIn(original.history)];
    const after = [...textsIn(redactHistory(original, code).history)].join('\n');
    const gone = [
      'it sails',
      'motion-omni',
      'golden-recorder',
      original.workflowId,
      'default@',
      'artifact:sha256/',
    ];
    for (const text of gone.slice(0, 5)) {
      expect(before.some((one) => one.includes(text))).toBe(true);
      expect(after).not.toContain(text);
    }
    // The form of a digest stays, and none of them does.
    const digests = before.filter((text) => /^[0-9a-f]{64}$/.test(text));
    expect(digests.length).toBeGreaterThan(1);
    for (const digest of digests) expect(after).not.toContain(digest);
    expect(after).toContain('artifact:sha256/');
  });

  it('has none of the texts that stand in fields of every kind', async () => {
    const run = await golden('generateVideo.failed-moderation.v1.json');
    const events = (run.history.events ?? []) as Record<string, Record<string, unknown>>[];
    const payload = (value: unknown) => ({
      metadata: { encoding: Buffer.from('json/plain'), [`${CANARY}-meta`]: Buffer.from(CANARY) },
      data: Buffer.from(JSON.stringify(value)),
    });
    const searchable = (type: string) => ({
      metadata: { encoding: Buffer.from('json/plain'), type: Buffer.from(type) },
      data: Buffer.from(JSON.stringify(CANARY)),
    });
    const of = (attributes: string) => events.find((event) => event[attributes] != null)?.[attributes] ?? {};
    Object.assign(of('workflowExecutionStartedEventAttributes'), {
      identity: CANARY,
      cronSchedule: '',
      memo: { fields: { [CANARY]: payload(CANARY), [VERSION_MEMO]: payload('0.2.0') } },
      searchAttributes: {
        indexedFields: {
          [CANARY]: payload([CANARY]),
          ...Object.fromEntries(
            ['Keyword', 'Int', 'Datetime', CANARY].map((type) => [`a-${type}`, searchable(type)]),
          ),
        },
      },
      header: { fields: { [CANARY]: payload(CANARY) } },
      completionCallbacks: [{ nexus: { url: `https://${CANARY}/`, header: { authorization: CANARY } } }],
      continuedFailure: { message: CANARY, stackTrace: CANARY, applicationFailureInfo: { type: CANARY } },
      parentWorkflowNamespace: CANARY,
      priority: { fairnessKey: CANARY },
    });
    Object.assign(of('activityTaskCompletedEventAttributes'), { identity: CANARY });
    Object.assign(of('timerStartedEventAttributes'), { fieldOfTomorrow: { inner: [CANARY] } });
    const scheduled = of('activityTaskScheduledEventAttributes') as { input?: { payloads: unknown[] } };
    scheduled.input?.payloads.push(payload({ [CANARY]: [`https://h/x?sig=${CANARY}`] }), {
      metadata: { encoding: Buffer.from('binary/plain') },
      data: Buffer.from(CANARY),
    });
    const redacted = redactHistory(run, code);
    expect(writtenBy(redacted.history).package).toBe('0.2.0');
    expect([...textsIn(run.history)].filter((text) => text.includes(CANARY)).length).toBeGreaterThan(10);
    expect([...textsIn(redacted.history)].filter((text) => text.includes(CANARY))).toEqual([]);
    expect(JSON.stringify(historyToJson(redacted.history))).not.toContain(
      Buffer.from(CANARY).toString('base64').slice(0, 12),
    );
  });
});
