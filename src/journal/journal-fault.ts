import { systemCode, systemFault } from '../files/system-code';

/** Errors of journals that say what to change, and nothing secret. Known by name: the packages of some are optional. */
const SAYS_WHY: ReadonlySet<string> = new Set(['JournalRecordError', 'PostgresError', 'S3Error']);

/** The words of a store for its own fault; undefined for any other error, whose message may repeat a path. */
export function wordsOfStore(error: unknown): string | undefined {
  return error instanceof Error && SAYS_WHY.has(error.name) ? error.message : undefined;
}

/** Why a journal failed, as one sentence without a secret, an address or a path: for histories and logs. */
export function journalFault(error: unknown): string {
  const words = wordsOfStore(error);
  if (words !== undefined) return words;
  const code = systemCode(error);
  if (code !== 'unknown') return `Its store answers ${systemFault(error)}.`;
  // A name is a word of the code that threw, never a value.
  const name = error instanceof Error && /^[A-Za-z]{1,60}$/.test(error.name) ? error.name : 'Error';
  return `Its store failed with an error that is not repeated here (${name}).`;
}
