/** Compares up to three numbers; a suffix (a pre-release) is ignored. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(than)];
  for (const index of [0, 1, 2]) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function numbersOf(version: string): readonly number[] {
  return (/\d+(?:\.\d+){0,2}/.exec(version)?.[0] ?? '').split('.').map(Number);
}
