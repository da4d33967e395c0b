/** Whether an address holds no credentials: no user, no password, no query, no fragment. */
export function isBareAddress({ username, password, search, hash }: URL): boolean {
  return `${username}${password}${search}${hash}` === '';
}
