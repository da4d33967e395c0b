import { type SandboxModelDocument } from './sandbox-model';

/**
 * The models that the sandbox serves, as the live model configuration document.
 * Durations, resolutions, prices and reference forms differ on purpose, so that nothing about one model can be
 * assumed for another (C2.1.5, C2.3.7). No polling profile is below the contract's 3 s (contract 8).
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
