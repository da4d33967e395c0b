/** The first page: totals, money, filters over all pages, the list of pages. */
export const INDEX_TEMPLATE = `<%~ it.head %><body data-page="">
<header class="top"><p class="state <%= it.state %>"><% if (it.state === 'running') { %>Running, as of <time datetime="<%= it.asOf %>"><%= it.asOfText %></time><% } else { %>Finished <time datetime="<%= it.asOf %>"><%= it.asOfText %></time><% } %></p>
<h1><bdi><%= it.campaign %></bdi></h1>
<p class="sub"><% if (it.startedText) { %>Started <%= it.startedText %><% } %><% if (it.tookText) { %> · took <%= it.tookText %><% } %><% if (it.state === 'running') { %> · reload to see what came since<% } %></p>
<svg class="bar" viewBox="0 0 1000 12" preserveAspectRatio="none" role="img" aria-label="<%= it.barLabel %>"><% it.bar.forEach((part) => { %><rect class="<%= part.tone %>" x="<%= part.x %>" width="<%= part.width %>" y="0" height="12"></rect><% }) %></svg>
</header>
<section class="tiles" aria-label="Totals">
<% it.tiles.forEach((tile) => { %><div class="tile <%= tile.tone %>"><strong><%= tile.value %></strong><span><%= tile.name %></span></div>
<% }) %></section>
<section class="tiles money" aria-label="Money">
<% it.money.forEach((tile) => { %><div class="tile <%= tile.tone %>"><strong><%= tile.value %></strong><span><%= tile.name %></span><small><%= tile.hint %></small></div>
<% }) %></section>
<% if (it.notes.length) { %><ul class="notes"><% it.notes.forEach((note) => { %><li dir="auto"><%= note %></li><% }) %></ul>
<% } %><% if (it.issues.length) { %><details class="issues"><summary><%= it.issuesTitle %></summary><table><thead><tr><th scope="col">Line</th><th scope="col">Column</th><th scope="col">What is wrong</th></tr></thead><tbody><% it.issues.forEach((issue) => { %><tr><td><%= issue.line %></td><td><bdi><%= issue.column %></bdi></td><td dir="auto"><%= issue.message %></td></tr><% }) %></tbody></table></details>
<% } %><noscript><p class="notes">The filters need the script of this folder; the pages below do not.</p></noscript>
<form class="filters" id="filters" aria-label="Filters" hidden>
<div class="chips" role="group" aria-label="Outcome"><button type="button" class="chip" data-outcome="" aria-pressed="true">All <b><%= it.rowsText %></b></button><% it.outcomes.forEach((outcome) => { %><button type="button" class="chip <%= outcome.tone %>" data-outcome="<%= outcome.word %>" aria-pressed="false"><%= outcome.label %> <b><%= outcome.rows %></b></button><% }) %></div>
<label>Model <select id="model"><option value="">All models</option><% it.models.forEach((model) => { %><option value="<%= model.name %>"><%= model.name %> (<%= model.rows %>)</option><% }) %></select></label>
<p id="shown" role="status" aria-live="polite"></p>
</form>
<main class="cards" id="cards"></main>
<p class="more-cards"><button type="button" id="more" hidden>Show more</button></p>
<% if (it.pages.length) { %><section class="pages" aria-labelledby="pages-title"><h2 id="pages-title">Pages</h2><ol><% it.pages.forEach((page) => { %><li data-page="<%= page.name %>"><a href="<%= page.name %>.html"><b><%= page.number %></b><span><%= page.rows %> rows</span><% if (page.bad) { %><em><%= page.bad %> to look at</em><% } %></a></li><% }) %></ol></section>
<% } else { %><p class="empty">No row has ended yet.</p>
<% } %><footer><p>Tables: <a href="results.csv">results.csv</a> · <a href="results.jsonl">results.jsonl</a> · <a href="summary.json">summary.json</a></p>
<p class="keys">Keys: <kbd>j</kbd> <kbd>k</kbd> next and previous card, <kbd>Space</kbd> play or pause, <kbd>←</kbd> <kbd>→</kbd> seek, <kbd>m</kbd> mute, <kbd>f</kbd> full screen</p></footer>
</body>
</html>
`;
