import { type JsonObject } from './json-value';

/** Every operation, in the order in which counters show them. */
export const SANDBOX_OPERATIONS = [
  'create',
  'poll',
  'content',
  'media',
  'generate',
  'edit',
  'generated',
  'models',
  'unknown',
] as const;

/** What a request to the sandbox is: the operation under which it is logged, counted and matched by fault rules. */
export type SandboxOperation = (typeof SANDBOX_OPERATIONS)[number];

/** A reply in full: JSON `body`, or `raw` text with its `contentType` (default text/plain). */
export interface ReplyFault {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  raw?: string;
  contentType?: string;
}

/** How a reply is lost after the body of the request was read. */
export type LostReply = 'reset' | 'close' | 'stall' | 'stall_body' | 'cut_body';

/** What a matching rule does to the request. */
export type FaultAction =
  /** Answered like this; nothing is accepted. */
  | ({ type: 'status' } & ReplyFault)
  /** The task or image is accepted and counted, then this reply is sent. */
  | ({ type: 'accept_then_status' } & ReplyFault)
  /** The body is read, the work accepted or not, then RST, FIN, silence, or half a reply. */
  | { type: 'lose_reply'; accepted: boolean; how: LostReply }
  /** RST before the body is read. Rules with promptIncludes, model or taskId cannot match that early. */
  | { type: 'reset_early' }
  /** Waits before the reply; combines with the next matching rule. */
  | { type: 'delay'; ms: number }
  | { type: 'slow_body'; bytesPerSecond: number }
  /** Content-Length says more than is sent. */
  | { type: 'cut_body'; afterBytes: number; how: 'reset' | 'close' }
  /** A short file whose Content-Length agrees with it. */
  | { type: 'truncate'; bytes: number }
  /** Status 200 and video/mp4 (image/png for images), but an error page as the body. */
  | { type: 'json_page' }
  | { type: 'html_page' }
  | { type: 'not_ready'; status?: 400 | 404 | 409 }
  | { type: 'expired' }
  | { type: 'redirect'; location: string; status?: number }
  /** Poll: merged into the record; null removes a field. */
  | { type: 'record'; patch: JsonObject }
  /** Poll: the task fails for good from here on. `error` may have any shape. */
  | { type: 'task_fails'; error?: unknown; progress?: number }
  /** Poll: the record says this status word. */
  | { type: 'status_word'; status: string };

/** One line of a fault script. All given conditions must hold. */
export interface FaultRule {
  operation: SandboxOperation;
  promptIncludes?: string;
  model?: string;
  taskId?: string;
  /** Matching requests that pass unharmed first. @default 0 */
  skip?: number;
  /** Of those that follow, one of so many: 500 is a fault of 0.2 %. @default 1 */
  every?: number;
  /** How often the rule applies; 0 = for ever. @default 1 */
  times?: number;
  action: FaultAction;
}
