import { type MediaSource } from './media';
import {
  type PaidRequest,
  type VideoRequest,
  type ImageEditRequest,
  type ImageGenerationRequest,
} from './request';
import { type ValidationIssue } from './validation-issue';

/** `<WIDTH>x<HEIGHT>` in ASCII digits with a lowercase x and no sign, blank or leading zero (C2.3.2). */
const SIZE = /^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$/;

/** Largest `data:` reference that may travel in an input, in characters: a history is no file store (design 4.2). */
export const MAX_INLINE_DATA_URL = 64 * 1024;

/**
 * The rules of the contract that need no model configuration. Pure, so that a workflow, a client and a worker
 * refuse the same things before anything is sent. Returns every issue found; empty means fine.
 */
export function validateRequest(paid: PaidRequest): ValidationIssue[] {
  const { request } = paid;
  const issues = [...validateModelAndPrompt(request)];
  if (paid.operation === 'create_video') issues.push(...validateVideo(paid.request));
  else issues.push(...validateImage(paid.request));
  if (paid.operation === 'edit_image') issues.push(...validateEditFiles(paid.request));
  return issues;
}

function validateModelAndPrompt(request: { model: unknown; prompt: unknown }): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  for (const field of ['model', 'prompt'] as const) {
    const value = request[field];
    if (typeof value !== 'string' || value.trim() === '') {
      issues.push({ field, message: `${field} is required and must not be empty.` });
    }
  }
  return issues;
}

function validateVideo(request: VideoRequest): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  const { durationSeconds } = request;
  if (durationSeconds !== undefined && (!Number.isInteger(durationSeconds) || durationSeconds < 1)) {
    issues.push({
      field: 'durationSeconds',
      message: 'durationSeconds must be a whole number of seconds, at least 1.',
    });
  }
  for (const field of ['resolution', 'aspectRatio'] as const)
    issues.push(...emptyString(field, request[field]));
  (request.references ?? []).forEach((reference, index) => {
    if (!['image', 'video', 'audio'].includes(reference.kind)) {
      issues.push({
        field: `references[${index}].kind`,
        message: 'A reference is an image, a video or audio.',
        allowed: ['image', 'video', 'audio'],
      });
    }
    issues.push(...validateSource(`references[${index}].source`, reference.source));
  });
  return issues;
}

function validateImage(request: ImageGenerationRequest): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  const { size, n, responseFormat } = request;
  if (size !== undefined && size !== 'auto' && !(typeof size === 'string' && SIZE.test(size))) {
    issues.push({
      field: 'size',
      message:
        'size must be WIDTHxHEIGHT in digits with a lowercase letter x, for example 1024x1024, or auto where the model supports it.',
    });
  }
  if (n !== undefined && (!Number.isInteger(n) || n < 1)) {
    issues.push({ field: 'n', message: 'n must be a whole number of at least 1.' });
  }
  issues.push(...emptyString('quality', request.quality));
  if (responseFormat !== undefined && responseFormat !== 'url' && responseFormat !== 'b64_json') {
    issues.push({
      field: 'responseFormat',
      message: 'responseFormat must be url or b64_json.',
      allowed: ['url', 'b64_json'],
    });
  }
  return issues;
}

function validateEditFiles(request: ImageEditRequest): ValidationIssue[] {
  if (!Array.isArray(request.images) || request.images.length === 0) {
    return [{ field: 'images', message: 'An edit needs at least one image file.' }];
  }
  const issues = request.images.flatMap((image: MediaSource, index) =>
    validateSource(`images[${index}]`, image),
  );
  return request.mask === undefined ? issues : [...issues, ...validateSource('mask', request.mask)];
}

function emptyString(field: string, value: unknown): ValidationIssue[] {
  if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return [];
  return [{ field, message: `${field} must be a non-empty text, or be left out.` }];
}

function validateSource(field: string, source: MediaSource): ValidationIssue[] {
  if (typeof source !== 'object' || source === null) return [{ field, message: SOURCE_HINT }];
  if ('artifact' in source) return [];
  if ('file' in source) {
    return typeof source.file === 'string' && source.file !== ''
      ? []
      : [{ field, message: 'file must be a path.' }];
  }
  if (!('url' in source) || typeof source.url !== 'string') return [{ field, message: SOURCE_HINT }];
  if (/^data:/i.test(source.url)) {
    return source.url.length <= MAX_INLINE_DATA_URL
      ? []
      : [
          {
            field,
            message: `A data: URL may hold at most ${MAX_INLINE_DATA_URL} characters; store the file as an artifact instead.`,
          },
        ];
  }
  // No URL parser here: a value without http(s) is a path or a foreign scheme, and neither may reach JSON (C2.4.6).
  if (!/^https?:\/\/[^/\s]+/i.test(source.url) || /\s/.test(source.url)) {
    return [
      {
        field,
        message:
          'A reference URL must start with https:// or http://; a local file is given as {file} or {artifact}, never as a URL.',
      },
    ];
  }
  return [];
}

const SOURCE_HINT = 'A source is {artifact}, {url} or {file}.';
