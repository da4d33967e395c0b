import { type ErrorKind } from '../domain/task-error';

/** What an error shows that can decide its kind. */
export interface ErrorSignals {
  /** Every code found, most specific first: names and numbers as text. */
  readonly codes: readonly string[];
  /** Generic class names such as `invalid_request_error`: gateways put them on everything. */
  readonly types: readonly string[];
  /** Free text: only whole signal words count in it. */
  readonly text: string;
  readonly httpStatus?: number;
}

interface KindRule {
  readonly kind: ErrorKind;
  /** Matched against codes and types. */
  readonly code?: RegExp;
  /** Words that are signals even in free text. */
  readonly word?: RegExp;
  readonly type?: RegExp;
  readonly statuses?: readonly number[];
}

/**
 * The one table (wire-facts), tried from top to bottom. Moderation comes first, because it also arrives inside
 * 500 and 503; `policy` counts only as a part of a code that is not about rates. What a body says wins over the
 * status, and a generic type loses against it.
 */
const RULES: readonly KindRule[] = [
  {
    kind: 'moderation',
    code: /moderat|sentinel_?block|sensitive_?content|data_?inspection_?failed|^safety(?:[._-]|$)|content_?filter|nsfw|^(?!.*(?:rate|quota|limit|billing)).*policy/i,
    word: /\b(?:moderation_blocked|(?:image_)?content_policy_violation|sentinel_block|\w*SensitiveContentDetected|DataInspectionFailed|SAFETY\.\w+)\b/i,
  },
  {
    kind: 'capacity',
    code: /insufficient_?(?:capacity|resource)/i,
  },
  {
    kind: 'quota',
    code: /quota|insufficient(?!_?(?:permission|scope|privilege|access))|billing|payment_?required|arrearage|out_?of_?credits?|^402$/i,
    word: /\b(?:\w*QuotaExceeded|quota_exceeded|insufficient_(?:quota|balance|credits?|funds|user_quota)|billing_\w*limit\w*)\b/i,
  },
  {
    kind: 'capacity',
    code: /overload|model_?loading|rate_?limit|throttl|unavailable|capacity|too_?many_?requests|server_?busy|^429$|^503$/i,
    word: /\b(?:ServerOverloaded|ModelLoadingError|\w*RateLimitExceeded|rate_limit_exceeded|THROTTLED|[A-Z_]*UNAVAILABLE)\b/,
  },
  {
    kind: 'invalid',
    code: /^(?!.*(?:api_?key|token|auth|credential|response|state)).*invalid(?!_request_error)|bad_?request|validation|unsupported|not_?supported|missing|out_?of_?range|value_error|parameter|^400$|^422$/i,
  },
  { kind: 'quota', statuses: [402] },
  { kind: 'capacity', statuses: [425, 429, 503] },
  {
    kind: 'invalid',
    // Some services say their generic type as the code of a failed task, and nothing else.
    code: /^invalid_request(?:_error)?$/i,
    type: /invalid_request|bad_request|validation/i,
    statuses: [400, 405, 413, 415, 422],
  },
];

/** Total: an error that shows nothing known is `unknown` (C2.2.8, C7.8). */
export function errorKind(signals: ErrorSignals): ErrorKind {
  const named = [...signals.codes, ...signals.types];
  const rule = RULES.find(
    ({ code, word, type, statuses }) =>
      (code !== undefined && named.some((one) => code.test(one))) ||
      (word !== undefined && word.test(signals.text)) ||
      (type !== undefined && signals.types.some((one) => type.test(one))) ||
      (signals.httpStatus !== undefined && statuses?.includes(signals.httpStatus) === true),
  );
  return rule?.kind ?? 'unknown';
}
