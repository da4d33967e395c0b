import { type TaskError } from '../../domain/task-error';

/** What an error of a service is about. */
export type Subject = 'key' | 'path' | 'model' | 'task';

/** The first that fits decides: an address that is wrong is often quoted, and there are videos in it. */
const SUBJECTS: readonly (readonly [Subject, RegExp])[] = [
  [
    'key',
    /api[ _-]?key|credential|unauthori[sz]ed|authenticat|authori[sz]ation|\bbearer\b|(?:access|auth|invalid|expired)[ _-]?token|token (?:is )?(?:invalid|expired|missing)|permission|forbidden/i,
  ],
  [
    'path',
    /cannot (?:get|post) \/|(?:invalid|unknown|wrong|such|matching) (?:url|uri|path|route|endpoint)|(?:url|uri|path|route|endpoint) (?:was |is )?(?:not found|unknown|invalid)|no (?:route|handler)|unknown_(?:url|path)|method not allowed/i,
  ],
  ['model', /\bmodel/i],
  ['task', /\b(?:task|video|job|generation)s?\b|\bid\b|doctor-/i],
];

/** Which of them the words of an error speak of; undefined when none can be told. */
export function spokenOf({ code, message }: Pick<TaskError, 'code' | 'message'>): Subject | undefined {
  const words = `${(code ?? '').replaceAll(/[_.-]/g, ' ')} ${code ?? ''} ${message ?? ''}`;
  return SUBJECTS.find(([, pattern]) => pattern.test(words))?.[0];
}
