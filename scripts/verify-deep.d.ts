/** Minutes that each suite may take. */
export const LIMITS: Readonly<Record<string, number>>;
export function suites(): readonly { readonly name: string; readonly minutes: number }[];
