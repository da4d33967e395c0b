/**
 * One row of a campaign. Every `<%=` escapes: prompts, keys, models and the service's words are hostile text.
 * No inline style and no inline handler: the pages' Content-Security-Policy forbids them.
 */
export const CARD_TEMPLATE = `<article class="card <%= it.tone %>" id="<%= it.id %>" tabindex="0" aria-labelledby="<%= it.id %>-key" data-outcome="<%= it.outcome %>" data-model="<%= it.model %>">
<% if (it.video) { %><div class="media"><video controls playsinline preload="none" src="<%= it.video.path %>" aria-label="<%= it.video.label %>"></video></div>
<% } else if (it.images.length) { %><div class="media images<%= it.images.length > 1 ? ' several' : '' %>"><% it.images.forEach((image) => { %><a href="<%= image.path %>"><img loading="lazy" decoding="async" src="<%= image.path %>" alt="<%= image.alt %>"></a><% }) %></div>
<% } else if (it.trouble) { %><div class="trouble"><p class="why"><% if (it.reason) { %><code><bdi><%= it.reason %></bdi></code> <% } %><%= it.trouble.meaning %></p><% if (it.message) { %><blockquote dir="auto"><%= it.message %></blockquote><% } %><p class="todo"><strong>What to do</strong> <% it.trouble.todo.forEach((part, place) => { %><% if (place % 2) { %><code><%= part %></code><% } else { %><%= part %><% } %><% }) %></p></div>
<% } else { %><div class="trouble none"><p class="why"><%= it.missing ? 'Not copied: the artifact store that this report was made from does not have it.' : 'No file came with this result.' %></p></div>
<% } %><div class="body">
<header><span class="badge"><%= it.label %></span><span class="kind"><%= it.operation %></span><h3 id="<%= it.id %>-key"><bdi><%= it.key %></bdi></h3></header>
<% if (it.prompt === null) { %><p class="prompt none">The prompt is not at hand: its plan is not in the store.</p>
<% } else if (it.promptStart === null) { %><p class="prompt" dir="auto"><%= it.prompt %></p>
<% } else { %><details class="prompt long"><summary dir="auto"><%= it.promptStart %></summary><p class="prompt" dir="auto"><%= it.prompt %></p></details>
<% } %><% if (it.missing && (it.video || it.images.length)) { %><p class="note"><%= it.missing === 1 ? 'A file is' : it.missing + ' files are' %> not in the artifact store.</p>
<% } %><dl class="facts"><div><dt>Model</dt><dd><bdi><%= it.model %></bdi></dd></div><% it.facts.forEach((fact) => { %><div<%= fact.differs ? ' class=differs' : '' %>><dt><%= fact.name %></dt><dd><bdi><%= fact.value %></bdi></dd></div><% }) %><div><dt>Cost</dt><dd><%= it.cost %> <small><%= it.costState %></small></dd></div></dl>
<% if (it.warnings.length) { %><ul class="warnings"><% it.warnings.forEach((warning) => { %><li dir="auto"><%= warning %></li><% }) %></ul>
<% } %><details class="more"><summary>Details</summary><dl><% it.more.forEach((fact) => { %><div><dt><%= fact.name %></dt><dd><bdi><%= fact.value %></bdi></dd></div><% }) %></dl></details>
</div></article>`;
