/** Longest fairness key that a Temporal server takes, in bytes of UTF-8: with a longer one no lane would ever start. */
const MAX_BYTES = 64;

/** As much of a campaign's id as fits, in whole characters. */
export function fairnessKeyOf(campaign: string): string {
  let bytes = 0;
  let key = '';
  for (const character of campaign) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > MAX_BYTES) break;
    key += character;
  }
  return key;
}
