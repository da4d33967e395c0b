import { type TaskError } from '../../domain/video-task';

/** What an error of a service is about. */
export type Subject = 'key' | 'path' | 'model' | 'task';

/** The first match decides. A quoted address is replaced by `/` before. */
const SUBJECTS: readonly (readonly [Subject, RegExp])[] = [
  [
    'key',
    /api[ _-]?key|credential|unauthori[sz]ed|authenticat|authori[sz]ation|\bbearer\b|(?:access|auth|invalid|expired)[ _-]?token|token (?:is )?(?:invalid|expired|missing)|permission|forbidden/i,
  ],
  [
    'path',
    /cannot (?:get|post) \/|(?:invalid|unknown|wrong|such|matching) (?:url|uri|path|route|endpoint)|(?:url|uri|path|route|endpoint) (?:was |is )?(?:not found|unknown|invalid)|no (?:route|handler|static resource)|page not found|resource\b[^/]{0,40} \/(?!\w)|unknown_(?:url|path)|method not allowed/i,
  ],
  ['model', /\bmodel/i],
  ['task', /\b(?:task|video|job|generation)s?\b|\bid\b|doctor-/i],
];

/** The address of the request, as quoted or redacted: it contains "videos" whatever the error is about. */
const QUOTED_ADDRESS = /\[path\]|\S*v1\/videos\/\S*/gi;

/** The subject of an error; undefined when none is recognised. */
export function spokenOf({ code, message }: Pick<TaskError, 'code' | 'message'>): Subject | undefined {
  const words = `${(code ?? '').replaceAll(/[_.-]/g, ' ')} ${code ?? ''} ${(message ?? '').replaceAll(QUOTED_ADDRESS, '/')}`;
  return SUBJECTS.find(([, pattern]) => pattern.test(words))?.[0];
}
