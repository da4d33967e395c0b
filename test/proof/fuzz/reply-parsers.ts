import { isUsableTaskId, type TaskError } from '../../../src/domain/video-task';
import { type VideoAccepted, type VideoReading } from '../../../src/service/media-client';
import {
  findRecord,
  type ImageReply,
  readImageReply,
  readVideoReply,
} from '../../../src/service/read-replies';
import { createRedactor } from '../../../src/service/redact';
import { parseJsonBody } from '../../../src/service/reply-body';
import { readTaskError } from '../../../src/service/task-error';
import { readVideoRecord } from '../../../src/service/video-record';
import { type FuzzedParser } from './fuzzed-parser';
import { wireSamples, wordsOf } from './wire-samples';

const KEY = 'key-of-the-fuzzed-service';
const redactor = createRedactor([KEY]);
const context = { baseUrl: 'https://api.example/prefix', redactor };

const records = wireSamples('record');
const creates = wireSamples('create', 'record');
const errors = wireSamples('error', 'content', 'create', 'record');
const images = wireSamples('image', 'create');
const COMMON = [
  '__proto__',
  'constructor',
  'prototype',
  'error',
  'data',
  'status',
  'id',
  KEY,
  'true',
  'null',
];
const STRUCTURE = ['{"', '[', '[[', '{"error":', '"', '\\u0000', '\\ud800', '\ufeff', ',', ':', '}', ']'];
const words = (samples: readonly Buffer[]) => [...wordsOf(samples), ...COMMON, ...STRUCTURE];

const PHASES = ['queued', 'in_progress', 'completed', 'failed', 'unknown'];
const KINDS = ['moderation', 'capacity', 'invalid', 'quota', 'unknown'];

/** No key of ours in anything that is kept or shown (C5.4a). */
const leaks = (result: unknown) =>
  JSON.stringify(result ?? null).includes(KEY) ? 'it kept the key' : undefined;

function wrongError(error: TaskError): string | undefined {
  if (!KINDS.includes(error.kind)) return `a kind of its own: ${error.kind}`;
  if ((error.code?.length ?? 0) > 100 || error.code === '') return 'a code that is too long or empty';
  if ((error.message?.length ?? 0) > 500 || error.message === '')
    return 'a message that is too long or empty';
  return /[\p{Cc}\p{Zl}]/u.test(`${error.code}${error.message}`)
    ? 'a control character in an error'
    : undefined;
}

function wrongReading(result: unknown): string | undefined {
  if (result === undefined) return undefined;
  const { record, resultUrls } = result as VideoReading;
  const { progress, usage, reported, error } = record;
  if (!PHASES.includes(record.phase)) return `a phase of its own: ${record.phase}`;
  if (record.status.length > 64) return 'a long status word';
  if (progress !== undefined && !(progress >= 0 && progress <= 100)) return `progress ${progress}`;
  if (JSON.stringify(usage ?? null).length > 3 * 4096) return 'a large usage';
  if ((reported?.model?.length ?? 0) > 200 || (reported?.resolution?.length ?? 0) > 200) return 'a long fact';
  if (reported?.durationSeconds !== undefined && !(reported.durationSeconds > 0)) return 'no duration';
  if (resultUrls.length > 16) return 'too many addresses';
  const odd = resultUrls.find((url) => !/^(?:https?:\/\/[^\s\\]+|data:)/i.test(url));
  if (odd !== undefined) return `an address of its own: ${odd.slice(0, 100)}`;
  return (error === undefined ? undefined : wrongError(error)) ?? leaks(record);
}

function wrongAccepted(result: unknown): string | undefined {
  if (result === undefined) return undefined;
  const { taskId, status, phase } = result as VideoAccepted;
  if (!isUsableTaskId(taskId)) return 'an id that fits into no path';
  encodeURIComponent(taskId);
  return status.length > 64 || !PHASES.includes(phase) ? 'a status of its own' : undefined;
}

function wrongImages(result: unknown): string | undefined {
  if (result === undefined) return undefined;
  const { created, items, usage } = result as ImageReply;
  if (created !== null && !(Number.isInteger(created) && created >= 0)) return `created ${created}`;
  for (const item of items) {
    if (item.kind === 'url' && !/^(?:https?:\/\/|data:)/i.test(item.url)) return 'an address of its own';
    if (item.kind === 'b64' && item.data.length === 0) return 'an image without bytes';
    if (!['url', 'b64', 'unreadable'].includes(item.kind)) return 'an item of its own';
  }
  return leaks(usage);
}

/** Readers of the bodies that the service sends, from the bytes on. */
export const REPLY_PARSERS: readonly FuzzedParser[] = [
  {
    name: 'video record',
    form: 'json',
    seeds: records,
    words: words(records),
    parse: (input) => {
      const found = findRecord(parseJsonBody(input), { taskId: 'task-1' });
      return found && readVideoRecord(found, context);
    },
    wrong: wrongReading,
  },
  {
    name: 'video record within a reply',
    form: 'json',
    seeds: records,
    words: words(records),
    parse: (input) => {
      const reply = { error: { message: input.toString('utf8') } };
      const found = findRecord(reply, { taskId: 'task-1', isError: true });
      return found && readVideoRecord(found, context);
    },
    wrong: wrongReading,
  },
  {
    name: 'create reply',
    form: 'json',
    seeds: creates,
    words: words(creates),
    parse: (input) => {
      const json = parseJsonBody(input);
      return json === undefined
        ? undefined
        : readVideoReply(json, { httpStatus: 200, headers: {}, redactor });
    },
    wrong: wrongAccepted,
  },
  {
    name: 'error body',
    form: 'json',
    seeds: errors,
    words: words(errors),
    parse: (input) =>
      readTaskError(
        parseJsonBody(input) ?? input.subarray(0, 16_384).toString('utf8'),
        redactor,
        input.length % 600,
      ),
    wrong: (result) => wrongError(result as TaskError) ?? leaks(result),
  },
  {
    name: 'image reply',
    form: 'json',
    seeds: images,
    words: words(images),
    parse: (input) => readImageReply(parseJsonBody(input), context),
    wrong: wrongImages,
  },
];
