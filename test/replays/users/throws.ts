/** The same after a careless change: it throws an error that fails its workflow task again and again. */
export async function twoPosters(): Promise<string> {
  throw new TypeError('Cannot read properties of undefined');
}
