/**
 * Longest fairness key that a Temporal server accepts, in bytes of UTF-8: with a longer one no batch would ever
 * start.
 */
const MAX_BYTES = 64;
/** `~` and sixteen digits. */
const SUFFIX_BYTES = 17;

/** The campaign's id; for a long id as many whole characters as fit, and a hash of the whole id. */
export function fairnessKeyOf(campaign: string): string {
  if (beginning(campaign, MAX_BYTES) === campaign) return campaign;
  return `${beginning(campaign, MAX_BYTES - SUFFIX_BYTES)}~${hash(campaign, 0)}${hash(campaign, 1)}`;
}

function beginning(text: string, maxBytes: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > maxBytes) break;
    kept += character;
  }
  return kept;
}

/**
 * FNV-1a over the text's UTF-16 units, as eight digits; each seed gives another hash. Nothing is gained by a
 * collision.
 */
function hash(text: string, seed: number): string {
  let value = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, '0');
}
