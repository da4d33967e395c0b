/** Why a file, or single tests of it by their titles, do not run with stored payloads. */
export const INLINE: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
export function files(): string[];
export function names(): string;
