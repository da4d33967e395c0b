/** Returns the expected text of every page that scripts/write-tables.js writes, by its name in docs. */
export function pages(): { readonly [page: string]: string };
