import { otherwise } from '../../domain/bug';
import { type CampaignImageInput } from '../../domain/campaign/activities';
import { imageOutcome } from '../../domain/make-outcome';
import { type ImageOutcome } from '../../domain/outcome';
import { type WaitingImage } from '../../domain/paid-call';
import { retryLater } from '../failures';
import { callForImages } from '../image-call';
import { rejectedAnswer, unreadBase } from '../paid-answers';
import { caller, type PaidDeps, refuseUnsafeRetries } from '../paid-context';
import { withSender } from '../sender';
import { type PageReader, withoutPage } from './open-page';
import { given } from '../../domain/given';

/** `media.campaignImage`: the image call or edit of one row, exactly as `media.generateImage` or `media.editImage` makes it. */
export function createCampaignImage(
  deps: PaidDeps,
  pages: PageReader,
): (input: CampaignImageInput) => Promise<ImageOutcome | WaitingImage> {
  return async (input) => {
    refuseUnsafeRetries(deps.journal);
    const who = caller(input);
    return withSender(deps, async (sender) => {
      const { creationKey, policy, recordedSince } = input;
      const base = unreadBase(input.account);
      const page = await pages.page(input.page).catch(otherwise(undefined));
      if (page === undefined) {
        const unsent = await withoutPage(deps, who, { creationKey, sender, recordedSince }, base);
        if (unsent !== undefined) return unsent;
        throw retryLater({ class: 'page_unavailable', message: 'The page of the campaign cannot be read.' });
      }
      const row = page.rows[input.index];
      if (row === undefined || row.call.operation === 'create_video') {
        const message = 'The page of this campaign has no image at that index. Nothing was sent.';
        const refused = rejectedAnswer(base, 'invalid_request', message, { field: 'index' });
        return imageOutcome(refused, creationKey)!;
      }
      const account = row.account ?? input.account;
      return await callForImages(
        deps,
        who,
        row.call,
        {
          creationKey,
          agreedPrice: row.estimate,
          keepsBooks: true,
          waits: true,
          ...(input.payer !== undefined && { payer: input.payer }),
          ...(input.recordedOnly === true && { recordedOnly: true }),
          ...given({ recordedSince, account, policy }),
        },
        sender,
      );
    });
  };
}
