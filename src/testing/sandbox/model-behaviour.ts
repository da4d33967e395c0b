/** What a model does that no configuration announces: its speed, its records and how it hands out content. */
export interface ModelBehaviour {
  queuedMs: number;
  runningMs: number;
  /** Contract 2.2: progress can be absent, stay 0 until 100, or grow. */
  progress: 'absent' | 'zero_until_done' | 'growing';
  /** Contract 4: the content endpoint answers itself or redirects; here the redirect leaves the origin. */
  content: 'direct' | 'redirect';
  /** Status of the content endpoint while the task is not completed. */
  notReadyStatus: 400 | 404 | 409;
  idStyle: 'plain' | 'colon' | 'uuid';
  usage: 'absent' | 'seconds' | 'tokens' | 'cost';
}

const general: ModelBehaviour = {
  queuedMs: 1_500,
  runningMs: 5_000,
  progress: 'growing',
  content: 'redirect',
  notReadyStatus: 404,
  idStyle: 'plain',
  usage: 'seconds',
};

const byModel = new Map<string, Partial<ModelBehaviour>>([
  ['cine-1', {}],
  [
    'cine-1-pro',
    { runningMs: 14_000, progress: 'zero_until_done', content: 'direct', usage: 'cost', notReadyStatus: 409 },
  ],
  [
    'atlas-long',
    {
      queuedMs: 3_000,
      runningMs: 24_000,
      progress: 'absent',
      idStyle: 'uuid',
      usage: 'tokens',
      notReadyStatus: 400,
    },
  ],
  ['motion-omni', { content: 'direct', progress: 'absent', idStyle: 'colon', usage: 'tokens' }],
  ['sketch-lite', { queuedMs: 500, runningMs: 2_500, progress: 'zero_until_done', usage: 'absent' }],
  ['open-canvas', { usage: 'absent', idStyle: 'uuid' }],
  ['image-2', { queuedMs: 0, runningMs: 200 }],
  ['image-2 4K', { queuedMs: 0, runningMs: 400 }],
]);

/** Behaviour of a model; a model that is not listed behaves like a general one. */
export function behaviourOf(model: string): ModelBehaviour {
  return { ...general, ...byModel.get(model) };
}
