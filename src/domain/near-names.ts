/**
 * Returns known names similar to `wanted`, nearest first: at most a third of the characters differ, or one name
 * contains the other. Ignores case and separators.
 */
export function nearNames(wanted: string, known: readonly string[], most = 3): string[] {
  const asked = plain(wanted);
  return known
    .map((name) => ({ name, distance: distanceOf(asked, plain(name)) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(asked.length / 3)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ name }) => name);
}

/** Characters that are invisible or look alike: format characters, variation selectors and spaces. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Z}]/gu;

/**
 * Returns one sentence with a leading space if a value looks like an allowed value but contains different characters,
 * or `''` if not. The sentence names the characters, never the value.
 */
export function unseenDifference(value: unknown, allowed: readonly string[]): string {
  if (typeof value !== 'string') return '';
  const seen = seenOf(value);
  const same = allowed.find((one) => one !== value && seenOf(one) === seen);
  if (same === undefined) return '';
  const [begin, end] = [value.length - value.trimStart().length, value.trimEnd().length];
  const odd = [...value.matchAll(UNSEEN)].filter(
    ({ 0: sign, index }) => sign !== ' ' || index < begin || index >= end,
  );
  const named = odd.slice(0, 3).map(({ 0: sign, index }) => `${codePoint(sign)} at character ${index + 1}`);
  const which = named.length === 0 ? '' : `: ${named.join(', ')}`;
  return ` It differs from an allowed value only in invisible characters${which}.`;
}

const seenOf = (text: string): string =>
  text
    .normalize('NFC')
    .replace(UNSEEN, (sign) => (/\s/u.test(sign) ? ' ' : ''))
    .replace(/ +/g, ' ')
    .trim();

const codePoint = (sign: string): string =>
  `U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

const plain = (name: string): string => name.toLowerCase().replace(/[\s_.-]+/g, '');

/** Maximum length to compare. Names are short, and comparing longer text is slow. */
const LONGEST = 100;

function distanceOf(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length > LONGEST || b.length > LONGEST) return Infinity;
  if (a.length > 2 && b.length > 2 && (a.includes(b) || b.includes(a))) return 1;
  return editDistance(a, b);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_unused, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? Infinity;
}
