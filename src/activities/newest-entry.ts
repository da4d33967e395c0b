/**
 * The number of the newest entry of a log without gaps, by doubling and bisection; null while there is none.
 * @param known number of an entry that was there
 */
export async function newestEntry(
  exists: (n: number) => Promise<boolean>,
  known: number | null,
): Promise<number | null> {
  let there = known ?? -1;
  let step = 1;
  while (await exists(there + step)) {
    there += step;
    step *= 2;
  }
  for (let absent = there + step; absent - there > 1;) {
    const middle = there + Math.floor((absent - there) / 2);
    if (await exists(middle)) there = middle;
    else absent = middle;
  }
  return there === -1 ? null : there;
}
