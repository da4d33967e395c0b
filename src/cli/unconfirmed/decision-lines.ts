import { type Money } from '../../domain/billing';
import { formatMoney } from '../../domain/price';
import { idArgument } from '../shell-word';

/** A paid call that waits for a decision, as far as the commands about it need it. */
export interface OpenCall {
  readonly creationKey: string;
  /** Whether it made a task that can be adopted: an image call makes none. */
  readonly hasTask: boolean;
  readonly estimate: Money | null;
  /** It was paid for and its results are lost: nobody can declare that nothing was accepted. */
  readonly isPaid: boolean;
  /** The same id, started again, fetches what is lost; nothing is sent for that. */
  readonly fetchable: boolean;
}

/**
 * The commands that settle such a call, each with what it may cost. Never the command that bought it, running that again
 * is how things are paid for twice (C4.4c); but where the journal is known to only fetch, that is said first.
 */
export function decisionLines({ creationKey, hasTask, estimate, isPaid, fetchable }: OpenCall): string[] {
  const cost = estimate === null ? 'an unknown amount' : `an estimated ${formatMoney(estimate)}`;
  const id = idArgument(creationKey);
  const command = (words: string): string => `  temporal-media unconfirmed ${words}`;
  return [
    ...firstLines(isPaid, fetchable),
    ...(hasTask
      ? [`${command(`adopt --reason WHY ${id} TASK`)}`, '      it was accepted as TASK; costs nothing more']
      : []),
    command(`declare-lost --reason WHY ${id}`),
    isPaid
      ? '      give its results up; it stays paid, and nothing is sent under this id any more'
      : '      nothing was accepted; costs nothing, and nothing is sent under this id any more',
    command(`resubmit --reason WHY ${id}`),
    isPaid
      ? `      send once more; costs ${cost} besides what is paid already`
      : `      send once more; costs ${cost}, and twice that if the first was accepted after all`,
  ];
}

function firstLines(isPaid: boolean, fetchable: boolean): string[] {
  if (!isPaid) return ['Look into the task records of the service with the evidence, then decide:'];
  if (!fetchable) return ['It was answered and is paid; only its results are lost. Decide:'];
  return [
    'It was answered and is paid; only its results are lost. Mend what kept them away, then start the same request',
    'again under the same id: they are fetched while the links of the service live, and nothing is sent.',
    'Only if they are gone for good, decide:',
  ];
}
