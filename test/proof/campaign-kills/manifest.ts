import { type Row } from '../../support/campaign';

/** What the fault script does to a row, by the word in its id. */
export interface Fate {
  readonly word: string;
  /** Of a hundred rows. */
  readonly share: number;
  readonly directive: string;
  /** The reply of its first send is lost or says nothing: nobody can know what it came to. */
  readonly unclear?: true;
}

export const FATES: readonly Fate[] = [
  { word: 'lost', share: 3, directive: '[lost-reply] ', unclear: true },
  { word: 'closed', share: 1, directive: '[lost-reply:close] ', unclear: true },
  { word: 'gateway', share: 2, directive: '[http:502] ', unclear: true },
  { word: 'limited', share: 5, directive: '[http:429:1] ' },
  { word: 'away', share: 3, directive: '[http:503:1] ' },
  { word: 'full', share: 3, directive: '[fail:capacity] ' },
  { word: 'moderated', share: 4, directive: '[fail:moderation] ' },
  { word: 'slow', share: 5, directive: '[run:8s] ' },
  { word: 'late', share: 4, directive: '[poll:http:503:2] ' },
];

/** Every so many rows there is an image, and an edit. */
const IMAGE_EVERY = 10;
const EDIT_EVERY = 25;

/** Rows of all three kinds, in an order that mixes models, kinds and faults; the prompt of a row names it. */
export function manifestRows(count: number, image: string): Row[] {
  const script = FATES.flatMap((fate) => Array.from({ length: fate.share }, () => fate));
  return Array.from({ length: count }, (_, n): Row => {
    // 37 and 100 have no common divisor: each hundred rows has every fate in its share.
    const fate = script[(n * 37) % 100];
    const id = `${fate?.word ?? 'plain'}-${n}`;
    const prompt = `${fate?.directive ?? ''}row ${id}.`;
    if (n % EDIT_EVERY === 7)
      return { id, operation: 'edit', model: 'image-2', prompt, images: [image], size: '512x512' };
    if (n % IMAGE_EVERY === 3) return { id, operation: 'image', model: 'image-2', prompt, size: '512x512' };
    return n % 3 === 1
      ? { id, model: 'motion-omni', prompt, duration: 3, resolution: '480p' }
      : { id, model: 'cine-1', prompt, duration: 2, resolution: '480p' };
  });
}

/** Whether the script itself makes the fate of this row unclear. */
export function isUnclear(id: string): boolean {
  return FATES.some(({ word, unclear }) => unclear === true && id.startsWith(`${word}-`));
}
