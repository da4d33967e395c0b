/** Minutes that each suite may take. */
export const LIMITS: Readonly<Record<string, number>>;
/** The suite that a file of test/proof, without its ending, is a part of. */
export function suiteOf(file: string): string;
export function suites(): readonly { readonly name: string; readonly minutes: number }[];
