import { createHash } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import {
  attributesOf,
  goldenFiles,
  goldenHistory,
  goldenManifest,
  goldenOutcome,
  goldenSha256,
  type PayloadJson,
} from './golden-histories';

const VIDEO_OUTCOMES = [
  'cancelled',
  'completed',
  'content_unavailable',
  'failed',
  'rejected',
  'still_running',
  'task_unknown',
  'unconfirmed',
];
const IMAGE_OUTCOMES = ['cancelled', 'completed', 'rejected', 'results_lost', 'unconfirmed'];

describe('golden histories', () => {
  const { unreleased = {}, ...releases } = goldenManifest();
  const manifest = Object.assign({}, ...Object.values(releases), unreleased) as Record<string, string>;
  const files = goldenFiles();

  // What a release wrote is replayed by every later one: a line may be added here, and none may change.
  it('of a release never change', () => {
    const digests = Object.entries(releases).map(([release, recorded]) => [release, digestOf(recorded)]);
    expect(Object.fromEntries(digests)).toEqual({});
  });

  it('lie there as they were recorded: none is missing, none is new, none has changed', () => {
    expect(files).toEqual(Object.keys(manifest).sort());
    expect(Object.fromEntries(files.map((file) => [file, goldenSha256(file)]))).toEqual(manifest);
  });

  it.each(files)('%s names its workflow, its case and its version', (file) => {
    const { workflowType } = goldenHistory(file);
    expect(file).toMatch(/^[A-Za-z]+\.[a-z0-9-]+\.v\d+\.json$/);
    expect(file.split('.')[0]).toBe(workflowType);
  });

  it.each([
    // The task of a create of its own is never unknown.
    ['generateVideo', VIDEO_OUTCOMES.filter((outcome) => outcome !== 'task_unknown')],
    ['awaitVideo', VIDEO_OUTCOMES.filter((outcome) => outcome !== 'unconfirmed' && outcome !== 'rejected')],
    ['generateImage', IMAGE_OUTCOMES],
    ['editImage', IMAGE_OUTCOMES],
  ])('show every outcome of %s', (type, outcomes) => {
    const shown = files.map(goldenHistory).filter(({ workflowType }) => workflowType === type);
    expect([...new Set(shown.map(goldenOutcome))].filter((outcome) => outcome !== undefined).sort()).toEqual(
      outcomes,
    );
  });

  it('show continue-as-new in a create, in a watch and in campaigns', () => {
    const carried = files
      .map(goldenHistory)
      .filter((history) => attributesOf(history, 'workflowExecutionContinuedAsNewEventAttributes').length > 0)
      .map(({ file }) => file.replace(/-run\d+\.v1\.json$/, ''));
    expect(new Set(carried)).toEqual(
      new Set([
        'awaitVideo.continued',
        'generateVideo.continued-creating',
        'generateVideo.continued-in-retry-after',
        'generateVideo.continued-watching',
        'generateVideo.searchable-continued',
        'runCampaign.continued',
        'runCampaign.images-to-the-end',
        'runCampaign.steady',
        'watchVideos.continued',
      ]),
    );
  });

  it('show search attributes of every kind of workflow, and of an outcome that is taken back', () => {
    const histories = files.map(goldenHistory).filter(({ file }) => file.includes('.searchable-'));
    const upserted = histories.filter((history) => attributesOf(history, UPSERTED).length > 0);
    expect([...new Set(upserted.map(({ workflowType }) => workflowType))].sort()).toEqual([
      'awaitVideo',
      'generateImage',
      'generateVideo',
      'runCampaign',
    ]);
    const outcomesOf = (name: string) =>
      attributesOf<Upserted>(goldenHistory(`generateVideo.${name}.v1.json`), UPSERTED)
        .map(({ searchAttributes }) => searchAttributes.indexedFields['MediaOutcome'])
        .filter((payload) => payload !== undefined)
        .map(({ data }) => Buffer.from(data ?? '', 'base64').toString());
    expect(outcomesOf('searchable-completed')).toEqual(['"completed"']);
    expect(outcomesOf('searchable-resubmitted')).toEqual([
      '"unconfirmed"',
      expect.any(String),
      '"completed"',
    ]);
  });

  it.each(files)('%s tells nothing about the machine that recorded it, and no secret', (file) => {
    const text = readable(goldenHistory(file));
    for (const [what, pattern] of PRIVATE) expect({ what, found: pattern.exec(text)?.[0] }).toEqual({ what });
  });

  it.each([
    ['a path', '"at /tmp/x/y.js"'],
    ['an address', '"http://service"'],
    ['a port', '"service:7233"'],
    ['an identity', '"4711@somewhere"'],
    ['a bearer key', '"Bearer abc"'],
    ['a signed link', '"x?X-Amz-Signature=1"'],
    ['a Windows path', String.raw`"C:\\work"`],
  ])('the look for private things finds %s', (_what, text) => {
    expect(PRIVATE.some(([, pattern]) => pattern.test(text))).toBe(true);
  });
});

const UPSERTED = 'upsertWorkflowSearchAttributesEventAttributes';

interface Upserted {
  readonly searchAttributes: { readonly indexedFields: Readonly<Record<string, PayloadJson>> };
}

const digestOf = (recorded: Record<string, string>): string =>
  createHash('sha256').update(JSON.stringify(recorded)).digest('hex');

const literal = (text: string): RegExp => new RegExp(`\\b${text.replace(/[^A-Za-z0-9]/g, '\\$&')}\\b`, 'i');

const PRIVATE: readonly (readonly [string, RegExp])[] = [
  ['a path', /(^|[\s"'(=])\/(tmp|home|root|work|usr|var|Users|opt|mnt)\b|\b[A-Za-z]:\\|file:\/\//],
  ['an address', /https?:\/\/|\b127\.0\.0\.1\b|\blocalhost\b|\b0\.0\.0\.0\b/i],
  ['a port', /[A-Za-z0-9.\]-]:\d{4,5}\b/],
  ['an identity', /\b\d+@[A-Za-z0-9]/],
  ['a key', /bearer\s|sandbox-key|\bsk-[A-Za-z0-9]|api[_-]?key|authorization|set-cookie/i],
  ['a signed link', /[?&](X-Amz-|sig=|signature=|token=|expires=)/i],
  ['the name of this machine', literal(hostname())],
  // `root` and the like are words of their own; any other name would be found.
  ...(['root', 'user', 'node'].includes(userInfo().username)
    ? []
    : [['the user of this machine', literal(userInfo().username)] as const]),
];

/** The text of a file together with what its payloads hold. */
function readable({ text, json }: { readonly text: string; readonly json: unknown }): string {
  const decoded: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'string') {
      if (/^[A-Za-z0-9+/]{8,}={0,2}$/.test(value) && value.length % 4 === 0)
        decoded.push(Buffer.from(value, 'base64').toString());
    } else if (typeof value === 'object' && value !== null) {
      Object.values(value).forEach(walk);
    }
  };
  walk(json);
  return [text, ...decoded].join('\n');
}
