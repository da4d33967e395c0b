/** The code of a system error such as `ENOENT`, or `unknown`. */
export function systemCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : 'unknown';
}
