import { createHash } from 'node:crypto';
import { Eta } from 'eta';
import { GALLERY_SCRIPT, GALLERY_STYLE } from './gallery-assets';
import { type RowCard } from './row-card';

/**
 * A campaign row's card. Every `<%=` escapes its value, because prompts, keys, models and service text are untrusted.
 * The pages' Content-Security-Policy forbids inline styles and handlers.
 */
const CARD_TEMPLATE = `<article class="card <%= it.tone %>" id="<%= it.id %>" tabindex="0" aria-labelledby="<%= it.id %>-key" data-outcome="<%= it.outcome %>" data-model="<%= it.model %>">
<% if (it.video) { %><div class="media"><video controls playsinline preload="none" src="<%= it.video.path %>" aria-label="<%= it.video.label %>"></video></div>
<% } else if (it.images.length) { %><div class="media images<%= it.images.length > 1 ? ' several' : '' %>"><% it.images.forEach((image) => { %><a href="<%= image.path %>"><img loading="lazy" decoding="async" src="<%= image.path %>" alt="<%= image.alt %>"></a><% }) %></div>
<% } else if (it.trouble) { %><div class="trouble"><p class="why"><% if (it.reason) { %><code><bdi><%= it.reason %></bdi></code> <% } %><%= it.trouble.meaning %></p><% if (it.message) { %><blockquote dir="auto"><%= it.message %></blockquote><% } %><p class="todo"><strong>What to do</strong> <% it.trouble.todo.forEach((part, place) => { %><% if (place % 2) { %><code><%= part %></code><% } else { %><%= part %><% } %><% }) %></p></div>
<% } else { %><div class="trouble none"><p class="why"><%= it.missing ? 'Not copied: the artifact store behind this report does not have the file.' : 'This result has no file.' %></p></div>
<% } %><div class="body">
<header><span class="badge <%= it.tone %>"><%= it.label %></span><span class="kind"><%= it.operation %></span><h3 id="<%= it.id %>-key"><bdi><%= it.key %></bdi></h3></header>
<% if (it.prompt === null) { %><p class="prompt none">The prompt is not available: its plan is not in the store.</p>
<% } else if (it.promptStart === null) { %><p class="prompt" dir="auto"><%= it.prompt %></p>
<% } else { %><details class="prompt long"><summary dir="auto"><%= it.promptStart %></summary><p class="prompt" dir="auto"><%= it.prompt %></p></details>
<% } %><% if (it.missing && (it.video || it.images.length)) { %><p class="note"><%= it.missing === 1 ? '1 file is' : it.missing + ' files are' %> missing from the artifact store.</p>
<% } %><dl class="facts"><div><dt>Model</dt><dd><bdi><%= it.model %></bdi></dd></div><% it.facts.forEach((fact) => { %><div<%= fact.differs ? ' class=differs' : '' %>><dt><%= fact.name %></dt><dd><bdi><%= fact.value %></bdi></dd></div><% }) %><div><dt>Cost</dt><dd><%= it.cost %> <small><%= it.costState %></small></dd></div></dl>
<% if (it.warnings.length) { %><ul class="warnings"><% it.warnings.forEach((warning) => { %><li dir="auto"><%= warning %></li><% }) %></ul>
<% } %><details class="more"><summary>Details</summary><dl><% it.more.forEach((fact) => { %><div><dt><%= fact.name %></dt><dd><bdi><%= fact.value %></bdi></dd></div><% }) %></dl></details>
</div></article>`;

/** The first page: totals, money, filters across all pages, and the list of pages. */
const INDEX_TEMPLATE = `<%~ it.head %><body data-page="">
<header class="top"><p class="badge state <%= it.tone %> <%= it.state %>"><span><%= it.state === 'running' ? 'Running, as of' : 'Finished' %> <time datetime="<%= it.asOf %>"><%= it.asOfText %></time><% if (it.bad !== '0') { %>, <%= it.bad %> needing attention<% } %></span></p>
<h1><bdi><%= it.campaign %></bdi></h1>
<p class="sub"><% if (it.startedText) { %>Started <%= it.startedText %><% } %><% if (it.tookText) { %> · took <%= it.tookText %><% } %><% if (it.state === 'running') { %> · reload to see newer results<% } %></p>
<svg class="bar" viewBox="0 0 1000 12" preserveAspectRatio="none" role="img" aria-label="<%= it.barLabel %>"><% it.bar.forEach((part) => { %><rect class="<%= part.tone %>" x="<%= part.x %>" width="<%= part.width %>" y="0" height="12"></rect><% }) %></svg>
</header>
<section class="tiles" aria-label="Totals">
<% it.tiles.forEach((tile) => { %><div class="tile <%= tile.tone %>"><strong><%= tile.value %></strong><span><%= tile.name %></span></div>
<% }) %></section>
<section class="tiles money" aria-label="Money">
<% it.money.forEach((tile) => { %><div class="tile <%= tile.tone %>"><strong><%= tile.value %></strong><span><%= tile.name %></span><small><%= tile.hint %></small></div>
<% }) %></section>
<% it.tables.forEach((table) => { if (table.rows.length) { %><details class="issues"><summary><%= table.title %></summary><table><thead><tr><th scope="col"><%= table.head %></th><th scope="col">Rows</th><th scope="col">Estimate</th><th scope="col">Billed</th><th scope="col">Cost</th></tr></thead><tbody><% table.rows.forEach((one) => { %><tr><td><bdi><%= one.group %></bdi></td><td><%= one.rows %></td><td><%= one.estimate %></td><td><%= one.actual %></td><td><%= one.cost %></td></tr><% }) %></tbody></table></details>
<% } }) %><% if (it.notes.length) { %><ul class="notes"><% it.notes.forEach((note) => { %><li dir="auto"><%= note %></li><% }) %></ul>
<% } %><% if (it.issues.length) { %><details class="issues"><summary><%= it.issuesTitle %></summary><table><thead><tr><th scope="col">Line</th><th scope="col">Column</th><th scope="col">What is wrong</th></tr></thead><tbody><% it.issues.forEach((issue) => { %><tr><td><%= issue.line %></td><td><bdi><%= issue.column %></bdi></td><td dir="auto"><%= issue.message %></td></tr><% }) %></tbody></table></details>
<% } %><noscript><p class="notes">The filters need this folder's script. The pages below work without it.</p></noscript>
<form class="filters" id="filters" aria-label="Filters" hidden></form>
<main class="cards" id="cards"></main>
<p class="more-rows"><button type="button" id="more" hidden>Show more</button></p>
<% if (it.pages.length) { %><section class="pages" aria-labelledby="pages-title"><h2 id="pages-title">Pages</h2><ol><% it.pages.forEach((page) => { %><li data-page="<%= page.name %>"><a href="<%= page.name %>.html"><b><%= page.number %></b><span><%= page.rows %> rows</span><% if (page.bad) { %><em><%= page.bad %> needing attention</em><% } %></a></li><% }) %></ol></section>
<% } else { %><p class="empty">No rows have finished yet.</p>
<% } %><footer><p>Tables: <a href="results.csv">results.csv</a> · <a href="results.jsonl">results.jsonl</a> · <a href="summary.json">summary.json</a></p>
<p class="keys">Keys: <kbd>j</kbd> <kbd>k</kbd> next and previous card, <kbd>Space</kbd> play or pause, <kbd>←</kbd> <kbd>→</kbd> seek, <kbd>m</kbd> mute, <kbd>f</kbd> full screen</p></footer>
</body>
</html>
`;

/**
 * Allows only files from this folder and prevents scripts inside text from running. The pages do not need anything that
 * `default-src 'none'` forbids (connections, frames, forms, plugins). Also applies to pages opened from disk.
 */
export const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'";

const HEAD_TEMPLATE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title><%= it.title %></title>
<link rel="stylesheet" href="assets/gallery.css">
<script defer src="data/index.js"></script>
<script defer src="assets/gallery.js"></script>
</head>
`;

/** A page of up to 200 cards. The list of pages is in data/index.js, so adding a page does not change the others. */
const PAGE_TEMPLATE = `<%~ it.head %><body data-page="<%= it.name %>">
<header class="top slim"><p class="crumb"><a href="index.html">Overview and filters</a></p>
<h1><bdi><%= it.campaign %></bdi> <span>page <%= it.number %></span></h1>
<nav class="pager" aria-label="Pages"></nav></header>
<main class="cards" id="cards">
<%~ it.cards %></main>
<footer><nav class="pager" aria-label="Pages"></nav><p><a href="index.html">Overview and filters</a></p></footer>
</body>
</html>
`;

const eta = new Eta({ autoEscape: true, cache: true });

const compiled = {
  card: eta.compile(CARD_TEMPLATE),
  head: eta.compile(HEAD_TEMPLATE),
  page: eta.compile(PAGE_TEMPLATE),
  index: eta.compile(INDEX_TEMPLATE),
};

/** Returns the HTML for one card, in which every value is escaped. */
export function renderCard(card: RowCard): string {
  return eta.render(compiled.card, card);
}

export function renderPage(page: {
  readonly name: string;
  readonly campaign: string;
  readonly number: string;
  /** HTML for the page's cards, from {@link renderCard}. */
  readonly cards: string;
}): string {
  const head = eta.render(compiled.head, { title: `${page.campaign} · page ${page.number}` });
  return eta.render(compiled.page, { ...page, head });
}

export function renderIndex(index: { readonly campaign: string } & object): string {
  return eta.render(compiled.index, { ...index, head: eta.render(compiled.head, { title: index.campaign }) });
}

/** Changes whenever a template changes, so that pages written by an older version of this package are rewritten. */
export const TEMPLATES_DIGEST = createHash('sha256')
  .update([CARD_TEMPLATE, HEAD_TEMPLATE, PAGE_TEMPLATE].join('\n'))
  .digest('hex')
  .slice(0, 16);

/** Files that are the same in every gallery. */
export const ASSETS: { readonly [path: string]: string } = {
  'assets/gallery.css': GALLERY_STYLE,
  'assets/gallery.js': GALLERY_SCRIPT,
};
