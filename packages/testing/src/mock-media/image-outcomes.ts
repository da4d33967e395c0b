import { imageOutcome } from 'temporal-media/internal/domain/make-outcome';
import {
  type Cancelled,
  type CompletedImage,
  type ImageResultsLost,
  type Rejected,
  type Unconfirmed,
} from 'temporal-media';
import { artifactRef, type Changes, ESTIMATE, MADE_AT } from './made-of';
import { cancelledVideo, madeUnconfirmed, rejectedVideo } from './video-outcomes';

/** Outcomes of image calls for tests, as the workflows and activities return them; `changes` replaces fields. */

const PNG = artifactRef({ mediaType: 'image/png', bytes: 100_000 });
const PAID = { sendAttempt: 0, sent: true, account: 'default@00000000', estimate: ESTIMATE } as const;
const CREATED = Date.parse(MADE_AT) / 1000;

/** Every result is stored; settled, with a usage. @default one PNG */
export function completedImage(changes: Changes<CompletedImage> = {}): CompletedImage {
  const { billing: money, images = [PNG], ...rest } = changes;
  const usage = { images: images.length };
  const answer = { ...PAID, outcome: 'completed', images, created: CREATED, usage, warnings: [] } as const;
  const made = imageOutcome(answer, 'order-1') as CompletedImage;
  return { ...made, billing: { ...made.billing, ...money }, ...rest };
}

/** Paid for, but a result could not be kept. @default the only one */
export function imageResultsLost(changes: Changes<ImageResultsLost> = {}): ImageResultsLost {
  const { billing: money, creationKey = 'order-1', ...rest } = changes;
  const answer = {
    ...PAID,
    outcome: 'results_lost',
    images: [null],
    created: CREATED,
    reason: 'storage',
    message: 'A result could not be stored.',
  } as const;
  const made = imageOutcome(answer, creationKey) as ImageResultsLost;
  return { ...made, billing: { ...made.billing, ...money }, ...rest };
}

/** Sent once, fate unknown. @default the connection was lost after the send */
export function unconfirmedImage(changes: Changes<Unconfirmed, 'evidence'> = {}): Unconfirmed {
  return madeUnconfirmed(null, changes);
}

/** Refused before the send or by the service. @default by the service, as `invalid_request` */
export function rejectedImage(changes: Changes<Rejected> = {}): Rejected {
  return rejectedVideo(changes);
}

/** Cancelled by the caller before the send. */
export function cancelledImage(changes: Changes<Cancelled> = {}): Cancelled {
  return cancelledVideo({ video: null, ...changes });
}
