import { type UnconfirmedEntry } from '../../domain/unconfirmed-decision';
import { type CommandContext } from '../command-context';
import { type Connected } from '../connect';
import { commandFor } from '../shell-word';
import { textTable } from '../text-table';
import { readPages } from './read-pages';

/** Lists the paid calls of unknown fate of the namespace. */
export async function listUnconfirmed(context: CommandContext, connected: Connected): Promise<void> {
  const { report } = context;
  const found: UnconfirmedEntry[] = [];
  let scanned = 0;
  for await (const page of readPages(connected, { list: 'unconfirmed' })) {
    found.push(...page.unconfirmed);
    scanned += page.scanned;
  }
  if (found.length > 0) {
    const rows = found.map((entry) => [
      entry.creationKey,
      entry.state,
      entry.operation,
      entry.evidence.model ?? '',
      entry.evidence.intentAt ?? '',
      entry.evidence.cause,
    ]);
    for (const line of textTable([['ID', 'STATE', 'OPERATION', 'MODEL', 'SENT', 'CAUSE'], ...rows]))
      report.result(line);
    const example = found[0]?.creationKey;
    if (example !== undefined)
      report.say(`Evidence and what can be done: ${commandFor('unconfirmed show', example)}`);
  } else {
    report.say(`Nothing waits for a decision: ${scanned} creation keys in the journal.`);
  }
  report.reply({ ok: true, data: { unconfirmed: found, scanned } });
}
