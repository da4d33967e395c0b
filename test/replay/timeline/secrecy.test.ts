import { historyFromJson } from '../../../packages/replay/src/history-codec';
import { buildTimeline } from '../../../packages/replay/src/timeline/build-timeline';
import { timelineText } from '../../../packages/replay/src/timeline/timeline-text';
import { canary, CanarySearch, searched } from '../../support/canary';
import { goldenHistory } from '../golden-histories';
import { goldenRun } from './golden-targets';

const prompt = canary('prompt', 'PRMPTa71q', (core) => `a ${core} in the rain at night`);
const signed = canary(
  'signed address',
  'SGNDb82w',
  (core) => `https://media.example/x.mp4?X-Amz-Signature=${core}`,
);
const key = canary('key', 'KEYc93e', (core) => `${core}-0123456789`);
const reference = canary('reference', 'REFd04r', (core) => `data:image/png;base64,${core}`);
const foreign = canary(
  'text of the service',
  'TXTe15t',
  (core) => `The words "${core}" are not allowed here`,
);

/** What is planted in fields of this name, wherever they are in a payload. */
const PLANTED: { readonly [field: string]: string } = {
  prompt: prompt.value,
  sidecarPrompt: prompt.value,
  message: foreign.value,
  code: foreign.value,
  url: signed.value,
  uri: signed.value,
  file: `/home/${prompt.core}/cat.png`,
  references: reference.value,
  image: reference.value,
  usage: foreign.value,
  warnings: foreign.value,
  resolution: prompt.value,
  status: signed.value,
  headers: `Bearer ${key.value}`,
  by: `somebody with ${key.value}`,
  reason: `because of ${key.value} and ${signed.value}`,
  cause: `Bearer ${key.value}`,
};

const FILES = [
  'generateVideo.completed-with-references',
  'generateVideo.completed-with-summaries',
  'generateVideo.adopted-by-update',
  'generateVideo.declared-lost-by-update',
  'generateVideo.resubmitted-by-update',
  'generateVideo.failed-moderation',
  'generateVideo.unconfirmed',
  'generateVideo.rejected-by-service',
  'generateVideo.rejected-no-worker',
  'generateVideo.content-unavailable-not-ready',
  'generateVideo.continued-watching-run2',
  'awaitVideo.completed-by-task-id',
  'awaitVideo.completed-without-journal',
  'buyFilm.completed',
  'makePoster.completed',
  'generateImage.completed',
  'generateImage.unconfirmed-after-failure',
  'editImage.results-lost',
  'findVideoTask.found',
  'resolveUnconfirmed.adopted',
  'reviewJournal.listed',
  'runCampaign.paused-and-resumed',
  'runCampaign.refused',
  'campaignBatch.images-to-the-end-batch0',
  'campaignBatch.paused-and-resumed-batch0',
];

/** The same history with canaries in all fields that may hold something secret, and in what people and SDKs write. */
function planted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(planted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  if (typeof fields['data'] === 'string' && fields['metadata'] !== undefined) return plantedPayload(fields);
  return Object.fromEntries(
    Object.entries(fields).map(([name, inner]) => {
      if (name === 'stackTrace' || name === 'message') return [name, `${prompt.value} ${signed.value}`];
      if (name === 'identity') return [name, `4711@${key.value}`];
      return [name, planted(inner)];
    }),
  );
}

function plantedPayload(payload: Record<string, unknown>): unknown {
  const text = Buffer.from(String(payload['data']), 'base64').toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return payload;
  }
  return { ...payload, data: Buffer.from(JSON.stringify(plantedValue(value))).toString('base64') };
}

function plantedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plantedValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => {
      const canaryText = PLANTED[name];
      if (canaryText === undefined) return [name, plantedValue(inner)];
      return [name, name === 'headers' ? { 'x-request-id': canaryText } : canaryText];
    }),
  );
}

describe('a timeline', () => {
  const search = new CanarySearch([prompt, signed, key, reference, foreign]);
  const histories = FILES.map((name) => {
    const file = `${name}.v1.json`;
    const run = goldenRun(file);
    return { name, run: { ...run, history: historyFromJson(planted(goldenHistory(file).json) as object) } };
  });

  it('is made from histories that hold every canary', () => {
    const found = search.hits(Buffer.from(JSON.stringify(histories)));
    const names = [prompt, signed, key, reference, foreign].map(({ name }) => name);
    expect([...new Set(found.map(({ canary: name }) => name))].sort()).toEqual(names.sort());
  });

  it.each(histories)(
    'of $name holds no prompt, key, address, reference or text of the service',
    ({ run }) => {
      const timeline = buildTimeline({ target: run.source, runs: [run] }, { secrets: [key.value] });
      for (const { where, bytes } of [
        searched('json', JSON.stringify(timeline)),
        searched('text', timelineText(timeline)),
      ])
        expect({ where, hits: search.hits(bytes) }).toEqual({ where, hits: [] });
    },
  );
});
