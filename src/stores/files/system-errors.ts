/** A system error's code, such as `ENOENT`, or `unknown`. */
export function systemCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : 'unknown';
}

/** For `.catch(ifAbsent(value))`: returns the value if the file does not exist, and rethrows any other error. */
export function ifAbsent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (systemCode(error) === 'ENOENT') return value;
    throw error;
  };
}

/** Codes when a file system does not support a call such as `link` or a folder sync. FAT on Windows returns EISDIR. */
export const NOT_SUPPORTED: ReadonlySet<string> = new Set([
  'EISDIR',
  'EINVAL',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EPERM',
]);

/** The error code with the system call, if known, such as `link: EPERM`. Never contains a path. */
export function systemFault(error: unknown): string {
  const call = (error as { syscall?: unknown } | null | undefined)?.syscall;
  const code = systemCode(error);
  return typeof call === 'string' && /^[a-z]{2,12}$/.test(call) ? `${call}: ${code}` : code;
}
