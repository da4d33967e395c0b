import { type JsonObject } from './json-value';
import { type SandboxStatus } from './sandbox-task';
import { type ResultLinks } from './task-record';

/** Links of a completed task in `compat` mode; `dataUrl` is empty unless the dialect embeds the video. */
export interface CompatLinks extends ResultLinks {
  dataUrl: string;
}

/** The words and shapes of one service of this family (`compat` mode). The contract shows none of them. */
export interface Dialect {
  statusWords: Record<SandboxStatus, string>;
  /** `{error: {…}}`, `{code, message, data}`, or `{detail: [{loc, msg, type}]}`. */
  errors: 'nested' | 'flat' | 'detail';
  /** Failed tasks carry `{error: {code, message}}` as published, or shapes that vary. */
  failures: 'published' | 'varied';
  /** Status of a poll that answers with the record of a failed task. */
  failedPollStatus: number;
  /** Where the result URL stands, if anywhere. */
  result(links: CompatLinks): JsonObject;
  /** True when `result` needs the video itself. */
  embedsVideo: boolean;
}

/** What the published client knows: its four words, nested errors, no result URL. */
const published: Dialect = {
  statusWords: { queued: 'queued', in_progress: 'in_progress', completed: 'completed', failed: 'failed' },
  errors: 'nested',
  failures: 'published',
  failedPollStatus: 200,
  result: () => ({}),
  embedsVideo: false,
};

const byModel = new Map<string, Partial<Dialect>>([
  ['cine-1', {}],
  // The API's own content path, relative to the origin.
  ['cine-1-pro', { result: ({ contentPath }) => ({ video_url: contentPath }) }],
  [
    'atlas-long',
    {
      statusWords: {
        queued: 'SUBMITTED',
        in_progress: 'PROCESSING',
        completed: 'SUCCESS',
        failed: 'FAILURE',
      },
      errors: 'flat',
      failures: 'varied',
      result: ({ signed }) => ({ data: { result_url: signed } }),
    },
  ],
  [
    'motion-omni',
    {
      statusWords: { queued: 'pending', in_progress: 'running', completed: 'succeeded', failed: 'error' },
      errors: 'detail',
      failures: 'varied',
      result: ({ dataUrl }) => ({ video_url: dataUrl }),
      embedsVideo: true,
    },
  ],
  [
    'sketch-lite',
    {
      statusWords: { queued: 'created', in_progress: 'generating', completed: 'done', failed: 'cancelled' },
      errors: 'flat',
      failures: 'varied',
      failedPollStatus: 500,
      // Without the scheme: relative to the scheme of the API.
      result: ({ signed }) => ({ output: [signed.replace(/^https?:/, '')] }),
    },
  ],
  [
    'open-canvas',
    {
      statusWords: {
        queued: 'preparing',
        in_progress: 'In_Progress',
        completed: 'finished',
        failed: 'expired',
      },
      failures: 'varied',
      failedPollStatus: 422,
      // A path of the API without a slash before it: relative to the base.
      result: ({ contentPath }) => ({ url: contentPath.slice(contentPath.lastIndexOf('/v1/') + 1) }),
    },
  ],
  ['image-2 4K', { errors: 'flat' }],
]);

/** Dialect of a model; a model that is not listed, or none, speaks the published one. */
export function dialectOf(model: string): Dialect {
  return { ...published, ...byModel.get(model) };
}

/** Every status word that any dialect says, sorted. */
export function allStatusWords(): string[] {
  const words = [...byModel.keys()].flatMap((model) => Object.values(dialectOf(model).statusWords));
  return [...new Set(words)].sort();
}
