/** Every page that scripts/write-tables.js writes, by its name in docs, as it has to be. */
export function pages(): { readonly [page: string]: string };
