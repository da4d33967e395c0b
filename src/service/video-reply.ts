import { type JsonValue } from '../domain/json';
import { isUsableTaskId } from '../domain/video-task';
import { asObject, asText, field } from './json-read';
import { isSentence } from './redact';
import { type AcceptedReply } from './send-paid';
import { type VideoAccepted } from './send-result';
import { phaseOf, statusWord } from './status-words';

/** The create reply (C4.6): only its own `id` counts, and an id that fits into no path is none (row 33). */
export function readVideoReply(json: JsonValue, reply: AcceptedReply): VideoAccepted | undefined {
  const record = asObject(json);
  const taskId = field(record, 'id');
  if (!isUsableTaskId(taskId) || /\p{Cs}/u.test(taskId)) return undefined;
  // An id goes into histories and paths as it is: what must not stand there makes it none (C5.4a to C5.4c).
  if (reply.redactor.holdsSecret(taskId) || isSentence(taskId)) return undefined;
  const status = statusWord(asText(field(record, 'status')) ?? '');
  return {
    class: 'accepted',
    taskId,
    httpStatus: reply.httpStatus,
    status: reply.redactor.name(status, 64),
    phase: phaseOf(status),
    headers: reply.headers,
  };
}
