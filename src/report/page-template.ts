/**
 * Nothing but files of this folder is loaded, and no script of a text can run: what `default-src 'none'` leaves out
 * (connections, frames, forms, plugins) is not needed. Also true for pages that are opened from disk.
 */
export const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'";

export const HEAD_TEMPLATE = `<!doctype html>
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

/** Up to 200 cards. Which pages stand beside it is told by data/index.js, so that a new page changes no other. */
export const PAGE_TEMPLATE = `<%~ it.head %><body data-page="<%= it.name %>">
<header class="top slim"><p class="crumb"><a href="index.html">Overview and filters</a></p>
<h1><bdi><%= it.campaign %></bdi> <span>page <%= it.number %></span></h1>
<nav class="pager" aria-label="Pages"></nav></header>
<main class="cards" id="cards">
<%~ it.cards %></main>
<footer><nav class="pager" aria-label="Pages"></nav><p><a href="index.html">Overview and filters</a></p></footer>
</body>
</html>
`;
