import { type FaultAction, type FaultRule, type SandboxOperation } from '../../../packages/sandbox/src';
import { ENCODINGS } from '../../support/canary';
import { caseOf, COOKIE, FILE_NAME, KEY, PROMPT, SIGNATURE } from './canaries';

/** Everything that a service may repeat of a call or say of its own, one kind per text: no pattern hides behind another. */
export function echoes(signedUrl: string): string[] {
  const written = ENCODINGS.filter(({ name }) => !['gzip', 'utf-16'].includes(name)).map((encoding) =>
    encoding.write(KEY.value).toString('utf8'),
  );
  return [
    `Refused "${PROMPT.value}" for key ${KEY.value}`,
    `Authorization: Bearer ${KEY.value}\nCookie: session=${COOKIE.value}`,
    `header was ${Buffer.from(`Bearer ${KEY.value}`).toString('base64')}`,
    ...written.map((text) => `seen ${text} in the call`),
    `Set-Cookie: session=${COOKIE.value}; Path=/`,
    `See ${signedUrl} for "${PROMPT.value}"`,
    `url=${encodeURIComponent(signedUrl)}&key=${encodeURIComponent(KEY.value)}`,
    `{"next":"${signedUrl.replaceAll('/', '\\/')}"}`,
    `X-Amz-Signature=${SIGNATURE.value} of ${KEY.value.toUpperCase()}`,
    `Cannot open /home/someone/${FILE_NAME.value}.png nor "C:\\Users\\someone\\${FILE_NAME.value}.png"`,
    `<html><title>${PROMPT.value} ${KEY.value}</title><body>${signedUrl}</body></html>`,
  ];
}

/** Bodies of every error, one echo after the other. */
export class Hostile {
  #turn = 0;

  constructor(readonly signedUrl: string) {}

  readonly key = KEY.value;

  get texts(): string[] {
    return echoes(this.signedUrl);
  }

  error(code = 'some_error'): { error: { code: string; type: string; message: string; param: string } } {
    const { texts } = this;
    const message = texts[this.#turn++ % texts.length] ?? '';
    return { error: { code, type: PROMPT.value, message, param: KEY.value } };
  }

  get headers(): Record<string, string> {
    return {
      'set-cookie': `session=${COOKIE.value}; Path=/`,
      'x-request-id': `req-${KEY.value}`,
      'x-trace-id': PROMPT.value,
      'cf-ray': this.signedUrl,
      location: this.signedUrl,
      'x-echo': `${KEY.value} ${PROMPT.value}`,
    };
  }

  status(status: number, code?: string, headers: Record<string, string> = {}): FaultAction {
    return { type: 'status', status, body: this.error(code), headers: { ...this.headers, ...headers } };
  }

  /** The key is refused, by all that may be repeated at once: such a refusal holds back the calls that come after it. */
  get keyRefused(): FaultAction {
    const error = { ...this.error('invalid_api_key').error, message: this.texts.join('\n') };
    return { type: 'status', status: 401, body: { error }, headers: this.headers };
  }

  /** Accepted, and answered by this body. */
  answered(body: unknown): FaultAction {
    return { type: 'accept_then_status', status: 200, body, headers: this.headers };
  }

  /** What a record may say in every field that is read. */
  get record(): Record<string, string | number | null | object> {
    const { signedUrl } = this;
    return {
      status: PROMPT.value,
      model: `${KEY.value}`,
      resolution: signedUrl,
      usage: { note: PROMPT.value, [KEY.value]: [signedUrl], link: signedUrl, seconds: 2 },
      error: { code: KEY.value.toLowerCase(), message: `${PROMPT.value} ${signedUrl}` },
      cookie: COOKIE.value,
    };
  }
}

export const on = (
  operation: SandboxOperation,
  name: string,
  action: FaultAction,
  more: Pick<FaultRule, 'times' | 'skip'> = {},
): FaultRule => ({ operation, promptIncludes: caseOf(name), action, ...more });
