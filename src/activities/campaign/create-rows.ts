import { otherwise } from '../../domain/bug';
import {
  type CampaignImageInput,
  type CreateVideosInput,
  type CreateVideosResult,
  type GroupedCreate,
} from '../../domain/campaign/campaign-activities';
import { type CampaignPage } from '../../domain/campaign/row';
import { keepsNothing } from '../../domain/journal';
import { given } from '../../domain/json';
import { mapConcurrently } from '../../domain/map-concurrently';
import { type ImageOutcome, imageOutcome } from '../../domain/outcome';
import { type CreateVideoAnswer, type WaitingImage } from '../../domain/paid-call';
import { createOneVideo } from '../create-video';
import { reported, retryLater } from '../failures';
import { callForImages } from '../image-call';
import { type AnswerBase, pendingAnswer, rejectedAnswer, unreadBase } from '../paid-answers';
import { caller, type Caller, type PaidDeps, refuseUnsafeRetries } from '../paid-context';
import { type Sender, withSender, withSenders } from '../sender';
import { type PageReader, READS_AT_ONCE, withoutPage } from './open-page';

/** Maximum number of rows per activity. They share its start-to-close timeout and its worker. */
const MAX_GROUP = 25;

/** Maximum number of rows per activity if nothing is sent. Losing the worker is then harmless. */
const MAX_LOOKUPS = 500;

/**
 * Implements `media.createVideos`: creates a campaign's rows. Each row has its own key, log and index entry, exactly as
 * with `media.createVideo`. Answers are in row order, and no row affects another.
 */
export function createCreateVideos(
  deps: PaidDeps,
  pages: PageReader,
): (input: CreateVideosInput) => Promise<CreateVideosResult> {
  return async (input) => {
    const { rows } = input;
    const sends = rows.some(({ recordedOnly, sameKey }) => recordedOnly !== true || sameKey !== undefined);
    const most = sends ? MAX_GROUP : MAX_LOOKUPS;
    if (rows.length > most) throw new RangeError(`One activity can process at most ${most} rows.`);
    // A single attempt is not enough protection: a workflow that is reset sends its group again.
    if (keepsNothing(deps.journal))
      return { answers: rows.map(() => withoutJournal(unreadBase(input.account))) };
    // The rows share the start-to-close timeout, and every send must finish within it.
    const who = caller(input);
    return withSenders(deps, rows.length, async (senders) => {
      const answers: CreateVideoAnswer[] = [];
      await mapConcurrently(rows.entries(), sends ? rows.length : READS_AT_ONCE, async ([index, row]) => {
        try {
          const sender = senders[index] as Sender;
          const page = await pages.page(row.page).catch(otherwise(undefined));
          if (page === undefined) {
            const unsent = await withoutPage(deps, who, { ...row, sender }, unreadBase(input.account));
            answers[index] = unsent ?? pendingAnswer(unreadBase(input.account));
          } else answers[index] = await createRow(deps, who, row, input, page, sender);
        } catch (error) {
          // The other rows continue. This row's outcome is read from the journal, as after a failed single create.
          answers[index] = reported(pendingAnswer(unreadBase(input.account)))(error);
        }
      });
      return { answers };
    });
  };
}

function withoutJournal(base: AnswerBase): CreateVideoAnswer {
  const message =
    'The worker has no create journal (journal: "none"), and a campaign needs one. Nothing was sent.';
  return rejectedAnswer(base, 'unsafe_retry_policy', message);
}

async function createRow(
  deps: PaidDeps,
  who: Caller,
  row: GroupedCreate,
  input: CreateVideosInput,
  page: CampaignPage,
  sender: Sender,
): Promise<CreateVideoAnswer> {
  const planned = page.rows[row.index];
  if (planned?.call.operation !== 'create_video') {
    const message = "This campaign's page does not have a video at that index. Nothing was sent.";
    return rejectedAnswer(unreadBase(input.account), 'invalid_request', message, { field: 'index' });
  }
  const { creationKey, recordedOnly, sameKey } = row;
  const { payer, policy } = input;
  const account = planned.account ?? input.account;
  const { labels } = planned;
  return createOneVideo(
    deps,
    who,
    {
      creationKey,
      request: planned.call.request,
      agreedPrice: planned.estimate,
      keepsBooks: true,
      ...given({ payer, recordedOnly, sameKey, account, policy, labels }),
    },
    sender,
  );
}

/**
 * Implements `media.campaignImage`: makes one row's image call, exactly like `media.generateImage` or
 * `media.editImage`.
 */
export function createCampaignImage(
  deps: PaidDeps,
  pages: PageReader,
): (input: CampaignImageInput) => Promise<ImageOutcome | WaitingImage> {
  return async (input) => {
    refuseUnsafeRetries(deps.journal);
    const who = caller(input);
    return withSender(deps, async (sender) => {
      const { creationKey, payer, recordedOnly, recordedSince, policy } = input;
      const base = unreadBase(input.account);
      const page = await pages.page(input.page).catch(otherwise(undefined));
      if (page === undefined) {
        const unsent = await withoutPage(deps, who, { creationKey, sender, recordedSince }, base);
        if (unsent !== undefined) return unsent;
        throw retryLater({ class: 'page_unavailable', message: "The campaign's page cannot be read." });
      }
      const row = page.rows[input.index];
      if (row === undefined || row.call.operation === 'create_video') {
        const message = "This campaign's page does not have an image at that index. Nothing was sent.";
        const refused = rejectedAnswer(base, 'invalid_request', message, { field: 'index' });
        return imageOutcome(refused, creationKey)!;
      }
      const account = row.account ?? input.account;
      const { labels } = row;
      return await callForImages(
        deps,
        who,
        row.call,
        {
          creationKey,
          agreedPrice: row.estimate,
          keepsBooks: true,
          waits: true,
          ...given({ payer, recordedOnly, recordedSince, account, policy, labels }),
        },
        sender,
      );
    });
  };
}
