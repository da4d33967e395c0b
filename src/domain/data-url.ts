/** Longest `data:` reference in an input, in characters: a history is not a file store (architecture: Requests). */
export const MAX_INLINE_DATA_URL = 64 * 1024;

/** Whether an address holds its bytes itself; service/read-data-url reads them. */
export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}
