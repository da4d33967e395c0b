/**
 * Returns a folder outside the tree that is filled once and kept; its name contains a digest of `madeOf`. If `fill`
 * throws, the folder is removed and the error rethrown.
 */
export function cachedFolder(name: string, madeOf: string, fill: (folder: string) => void): string;
/** Returns `node_modules` of a cached folder with these packages. Their scripts do not run. */
export function fromNpm(name: string, ...packages: readonly string[]): string;
/**
 * Returns the path of Node at this version (`20.18.1`, or `22` for the newest 22 when it was first requested), from the
 * npm package for this platform.
 */
export function nodeBinary(version: string): string;
