/** Whether an untyped caller gave a request at all: a throw in workflow code would hang the execution. */
export function isRequest(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
