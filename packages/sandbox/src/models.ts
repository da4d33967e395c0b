/**
 * The models that the sandbox serves, as a live model configuration document. Their durations, resolutions, prices and
 * reference forms differ on purpose, so that a client cannot assume that all models are alike (C2.1.5, C2.3.7). No
 * polling profile has intervals below the contract's minimum of 3 s (contract 8).
 */
export const sandboxModels: SandboxModelDocument = {
  version: 1,
  models: [
    {
      id: 'cine-1',
      kind: 'video',
      durationField: 'seconds',
      durationForm: 'integer',
      durations: [2, 4, 8],
      resolutions: ['480p', '720p'],
      aspectRatios: ['16:9', '9:16', '1:1'],
      references: [{ kind: 'image', field: 'reference_images', shape: 'array', form: 'url', max: 3 }],
      fields: ['camera'],
      polling: { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 4 },
      price: { per: 'second', microUnits: 50_000, currency: 'USD' },
    },
    {
      id: 'cine-1-pro',
      kind: 'video',
      durationField: 'seconds',
      durationForm: 'integer',
      durations: [4, 8, 12],
      resolutions: ['720p', '1080p', '4K'],
      aspectRatios: ['16:9', '9:16', '21:9'],
      references: [{ kind: 'image', field: 'input_reference', shape: 'string', form: 'data_url', max: 1 }],
      polling: { minSeconds: 9, maxSeconds: 11, firstPollSeconds: 10 },
      price: {
        per: 'specification',
        currency: 'USD',
        specifications: [
          { resolution: '4K', durationSeconds: 12, microUnits: 4_800_000 },
          { resolution: '4K', microUnits: 3_200_000 },
          { resolution: '1080p', microUnits: 1_600_000 },
          { microUnits: 900_000 },
        ],
      },
    },
    {
      id: 'atlas-long',
      kind: 'video',
      durationField: 'seconds',
      durationForm: 'string',
      durations: [6, 10, 15],
      resolutions: ['720p'],
      aspectRatios: ['16:9', '4:3'],
      references: [{ kind: 'image', field: 'images', shape: 'array', form: 'base64', max: 2 }],
      fields: ['negative_prompt'],
      polling: { minSeconds: 10, maxSeconds: 15, firstPollSeconds: 12 },
      price: { per: 'task', microUnits: 750_000, currency: 'USD' },
    },
    {
      id: 'motion-omni',
      kind: 'video',
      durationField: 'duration',
      durationForm: 'integer',
      durations: [3, 5, 10],
      resolutions: ['480p', '720p', '1080p'],
      aspectRatios: ['16:9', '9:16', '1:1', '4:3'],
      references: [
        { kind: 'image', field: 'reference_images', shape: 'array', form: 'data_url', max: 4 },
        { kind: 'video', field: 'reference_videos', shape: 'array', form: 'url', max: 2 },
        { kind: 'audio', field: 'audio_reference', shape: 'string', form: 'base64', max: 1 },
      ],
      fields: ['seed', 'camera'],
      polling: { minSeconds: 3, maxSeconds: 5 },
      price: { per: 'second', microUnits: 120_000, currency: 'USD' },
    },
    {
      id: 'sketch-lite',
      kind: 'video',
      durations: [2, 3, 4],
      resolutions: ['480p'],
      references: [{ kind: 'image', field: 'image_url', shape: 'string', form: 'url', max: 1 }],
      polling: { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 3 },
    },
    { id: 'open-canvas', kind: 'video' },
    {
      id: 'image-2',
      kind: 'image',
      sizes: ['512x512', '1024x1024', '1536x1024', '1024x1536', 'auto'],
      qualities: ['standard', 'high'],
      maxN: 4,
      responseFormats: ['url', 'b64_json'],
      edit: { mask: true, fields: ['size', 'n', 'response_format'], maxImages: 4 },
      price: { per: 'task', microUnits: 40_000, currency: 'USD' },
    },
    {
      id: 'image-2 4K',
      kind: 'image',
      sizes: ['3840x2160', '2160x3840', '2880x2880', '4096x4096'],
      maxN: 2,
      responseFormats: ['url', 'b64_json'],
      edit: { mask: false, fields: ['size'], maxImages: 2 },
      price: {
        per: 'specification',
        currency: 'USD',
        specifications: [{ size: '4096x4096', microUnits: 240_000 }, { microUnits: 160_000 }],
      },
    },
  ],
};

/** The video models of {@link sandboxModels}. */
export const videoModels = sandboxModels.models.filter((one) => one.kind === 'video');

/** The image models of {@link sandboxModels}. */
export const imageModels = sandboxModels.models.filter((one) => one.kind === 'image');

/** Model behavior that the configuration does not describe: speed, records and content delivery. */
export interface ModelBehaviour {
  queuedMs: number;
  runningMs: number;
  /** Contract 2.2: progress can be absent, stay 0 until 100, or grow. */
  progress: 'absent' | 'zero_until_done' | 'growing';
  /** Contract 4: the content endpoint sends the file or redirects to it. Here, the redirect goes to another origin. */
  content: 'direct' | 'redirect';
  /** The content endpoint's status while the task is not completed. */
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

/** Returns a model's behavior. A model that is not listed has the default behavior. */
export function behaviourOf(model: string): ModelBehaviour {
  return { ...general, ...byModel.get(model) };
}

/** How one kind of reference is sent (contract 2.1: names and forms are model-specific). */
export interface SandboxReference {
  /** Kind of media. */
  kind: 'image' | 'video' | 'audio';
  /** The request field that contains the reference. */
  field: string;
  /** Whether the field is an array or a string. */
  shape: 'array' | 'string';
  /** How the content is encoded. */
  form: 'url' | 'data_url' | 'base64';
  /** Maximum number of references of this kind. */
  max?: number;
}

/** Published price (contract 1): per task, per second or per specification, in integer micro-units. */
export type SandboxPrice =
  | { per: 'task' | 'second'; microUnits: number; currency: string }
  | {
      per: 'specification';
      currency: string;
      specifications: {
        resolution?: string;
        durationSeconds?: number;
        size?: string;
        quality?: string;
        microUnits: number;
      }[];
    };

/** A video model that the sandbox offers. */
export interface SandboxVideoModel {
  /** Public model id. */
  id: string;
  kind: 'video';
  /** Wire field of the duration. @default 'seconds' */
  durationField?: 'seconds' | 'duration';
  /** Whether the duration is a number or text. @default 'integer' */
  durationForm?: 'integer' | 'string';
  /** Allowed durations in seconds. @default any */
  durations?: number[];
  /** Allowed values. @default any */
  resolutions?: string[];
  /** Allowed values. @default any */
  aspectRatios?: string[];
  /** How references are sent. @default none are allowed */
  references?: SandboxReference[];
  /** Additional fields that a create may have. */
  fields?: string[];
  /** Poll intervals in the model configuration, in seconds. */
  polling?: { minSeconds: number; maxSeconds: number; firstPollSeconds?: number };
  /** The price in the model configuration. */
  price?: SandboxPrice;
}

/** An image model that the sandbox offers. */
export interface SandboxImageModel {
  /** Public model id. */
  id: string;
  kind: 'image';
  /** Allowed values. @default any */
  sizes?: string[];
  /** Allowed values. @default any */
  qualities?: string[];
  /** Maximum number of results per call. */
  maxN?: number;
  /** Allowed values. @default any */
  responseFormats?: ('url' | 'b64_json')[];
  /** What edits may contain. */
  edit?: { mask?: boolean; fields?: string[]; maxImages?: number };
  /** The price in the model configuration. */
  price?: SandboxPrice;
}

/** A sandbox model, in the format of an entry in a service's model configuration. */
export type SandboxModel = SandboxVideoModel | SandboxImageModel;

/** The live model configuration as one document (contract 2.3, 8). */
export interface SandboxModelDocument {
  version: 1;
  /** All models that the sandbox offers. */
  models: SandboxModel[];
}
