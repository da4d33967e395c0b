export const LONG: readonly string[];
export function isLong(file: string): boolean;
