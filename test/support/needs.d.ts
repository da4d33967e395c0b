/** What a test needs beyond the sources, from little to much. */
export type Need = 'nothing' | 'time' | 'lib' | 'server';

export const NEED_OF: Readonly<Record<string, Need>>;
export function needOf(file: string): Need;
export function allTestFiles(): string[];
export function needOfPatterns(patterns: readonly string[], files?: readonly string[]): Need;
export function leftOut(args?: readonly string[], files?: readonly string[]): string[];
