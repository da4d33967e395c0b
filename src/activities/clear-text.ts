import { createRedactor, type Redactor } from '../service/redact';
import { type AccountRegistry } from './accounts';

/** What knows the keys of every account of this worker. */
export async function redactorsOf(accounts: AccountRegistry): Promise<readonly Redactor[]> {
  return Promise.all(accounts.all().map(({ client }) => client.redactor()));
}

/** Takes keys and signed addresses out of a text: those that are known, and those that have the shape. */
export function clearOf(redactors: readonly Redactor[]): (text: string, max?: number) => string {
  const known = [...redactors, createRedactor([])];
  return (text, max) => known.reduce((rest, redactor) => redactor.text(rest, max), text);
}
