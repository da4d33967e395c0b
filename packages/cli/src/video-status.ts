import { shellWord } from 'temporal-media/internal/client/shell-word';
import { type MediaConfig } from 'temporal-media/worker';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { adviceOf, type CaseMoney, caseMoney } from 'temporal-media/internal/domain/case';
import { existingJournal } from 'temporal-media/internal/stores/open-stores';
import { gatherCase, type GatheredCase } from './case/gather-case';
import { type Connected } from './connect';
import { CliError } from './errors';

/** A case as `status` shows it. */
export interface VideoStatus extends GatheredCase {
  /** What is owed; null where nothing is known of a send. */
  readonly money: CaseMoney | null;
  /** One sentence: what is safe to do. */
  readonly safe: string;
}

/** What is known of an id. Undefined for an unknown one. @throws CliError `payload_unreadable` when nobody can tell */
export async function videoStatus(
  connected: Connected,
  config: MediaConfig,
  id: string,
  { askService = true }: { readonly askService?: boolean } = {},
): Promise<VideoStatus | undefined> {
  const journal = await existingJournal(config).catch(otherwise(undefined));
  const found = await gatherCase({ ...connected, journal, askService }, id);
  if (!('unread' in found))
    return { ...found, money: caseMoney(found), safe: adviceOf(found, shellWord).text };
  if (found.unread === 0) return undefined;
  throw new CliError(
    'payload_unreadable',
    `It cannot be determined whether ${id} is known: the payloads of ${found.unread} of the newest video workflows cannot be read here.`,
  );
}
