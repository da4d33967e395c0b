/** Time limit of each suite, in minutes. */
export const LIMITS: Readonly<Record<string, number>>;
/** Returns the suite that a file of test/proof, without its extension, belongs to. */
export function suiteOf(file: string): string;
export function suites(): readonly { readonly name: string; readonly minutes: number }[];
