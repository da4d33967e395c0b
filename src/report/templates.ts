import { createHash } from 'node:crypto';
import { Eta } from 'eta';
import { CARD_TEMPLATE } from './card-template';
import { GALLERY_SCRIPT } from './gallery-script';
import { GALLERY_STYLE } from './gallery-style';
import { INDEX_TEMPLATE } from './index-template';
import { HEAD_TEMPLATE, PAGE_TEMPLATE } from './page-template';
import { type RowCard } from './row-card';

const eta = new Eta({ autoEscape: true, cache: true });

const compiled = {
  card: eta.compile(CARD_TEMPLATE),
  head: eta.compile(HEAD_TEMPLATE),
  page: eta.compile(PAGE_TEMPLATE),
  index: eta.compile(INDEX_TEMPLATE),
};

/** HTML of one card; every value of it is escaped. */
export function renderCard(card: RowCard): string {
  return eta.render(compiled.card, card);
}

export function renderPage(page: {
  readonly name: string;
  readonly campaign: string;
  readonly number: string;
  /** HTML of its cards, from {@link renderCard}. */
  readonly cards: string;
}): string {
  const head = eta.render(compiled.head, { title: `${page.campaign} · page ${page.number}` });
  return eta.render(compiled.page, { ...page, head });
}

export function renderIndex(index: { readonly campaign: string } & object): string {
  return eta.render(compiled.index, { ...index, head: eta.render(compiled.head, { title: index.campaign }) });
}

/** Changes with any template: pages of an older version of this package are made again. */
export const TEMPLATES_DIGEST = createHash('sha256')
  .update([CARD_TEMPLATE, HEAD_TEMPLATE, PAGE_TEMPLATE].join('\n'))
  .digest('hex')
  .slice(0, 16);

/** Files of every gallery that do not depend on its campaign. */
export const ASSETS: { readonly [path: string]: string } = {
  'assets/gallery.css': GALLERY_STYLE,
  'assets/gallery.js': GALLERY_SCRIPT,
};
