/** Whether an address holds nothing that could open something: no user, no password, no query, no fragment. */
export function isBareAddress({ username, password, search, hash }: URL): boolean {
  return `${username}${password}${search}${hash}` === '';
}
