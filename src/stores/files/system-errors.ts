/** The code of a system error such as `ENOENT`, or `unknown`. */
export function systemCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : 'unknown';
}

/** For `.catch(ifAbsent(value))`: the value stands for a file that is not there, and every other fault is passed on. */
export function ifAbsent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (systemCode(error) === 'ENOENT') return value;
    throw error;
  };
}

/** Codes of a file system that is not able to do a call, such as `link` or a sync of a folder; FAT answers EISDIR on Windows. */
export const NOT_SUPPORTED: ReadonlySet<string> = new Set([
  'EISDIR',
  'EINVAL',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EPERM',
]);

/** The code with the call that met it where it is known, such as `link: EPERM`; never a path. */
export function systemFault(error: unknown): string {
  const call = (error as { syscall?: unknown } | null | undefined)?.syscall;
  const code = systemCode(error);
  return typeof call === 'string' && /^[a-z]{2,12}$/.test(call) ? `${call}: ${code}` : code;
}
