import { PAGE_STYLE, ROW_FILTERS_SCRIPT } from 'temporal-media/internal/html/page-assets';

/**
 * The gallery's script. Pages opened from disk cannot use fetch, so scripts provide the data: data/index.js sets
 * `gallery`, each data/page-….js calls `galleryPage(name, [[outcome, kind, model, card], …])`, and a card is escaped
 * HTML from the page's template.
 */
export const GALLERY_SCRIPT = `'use strict';
(() => {${ROW_FILTERS_SCRIPT}
  const STEP = 60;
  const AHEAD = 600;
  const gallery = window.gallery || { pages: [], outcomes: [], kinds: [], models: [] };
  const cards = document.getElementById('cards');
  const isIndex = document.body.dataset.page === '';

  // Links to the previous and the next page.
  const here = gallery.pages.findIndex(([name]) => name === document.body.dataset.page);
  if (here >= 0)
    for (const pager of document.querySelectorAll('.pager'))
      for (const [step, text, rel] of [[-1, '← Previous', 'prev'], [1, 'Next →', 'next']]) {
        const page = gallery.pages[here + step];
        if (page === undefined) continue;
        const link = document.createElement('a');
        link.href = page[0] + '.html';
        link.rel = rel;
        link.textContent = text;
        pager.append(link);
      }

  // A visible video loads its first frame; a video that leaves the view unplayed releases it.
  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting === (target.preload === 'metadata') || !target.paused || target.currentTime > 0) continue;
      target.preload = isIntersecting ? 'metadata' : 'none';
      target.load();
    }
  }, { rootMargin: '100px' });
  const watch = (root) => { for (const video of root.querySelectorAll('video')) sight.observe(video); };
  watch(document);
  document.addEventListener('play', ({ target }) => {
    for (const video of document.querySelectorAll('video')) if (video !== target) video.pause();
  }, true);

  // Keyboard: applies to cards, not inside form controls.
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea')) return;
    const card = event.target.closest('.card');
    if (event.key === 'j' || event.key === 'k') {
      const all = [...cards.querySelectorAll('.card')];
      const next = all[card === null ? 0 : all.indexOf(card) + (event.key === 'j' ? 1 : -1)];
      if (next === undefined) return;
      next.focus();
      next.scrollIntoView({ block: 'nearest' });
      return event.preventDefault();
    }
    const video = event.target === card ? card.querySelector('video') : null;
    if (video === null) return;
    if (event.key === ' ' || event.key === 'Enter') { if (video.paused) video.play().catch(() => {}); else video.pause(); }
    else if (event.key === 'ArrowLeft') video.currentTime = Math.max(0, video.currentTime - 1);
    else if (event.key === 'ArrowRight') video.currentTime += 1;
    else if (event.key === 'm') video.muted = !video.muted;
    else if (event.key === 'f') video.requestFullscreen().catch(() => {});
    else return;
    event.preventDefault();
  });

  if (!isIndex || gallery.pages.length === 0) return;

  // Filters over all pages.
  const more = document.getElementById('more');
  let run = 0;
  let steps = [];
  let place = { step: 0, card: 0 };
  let total = 0;
  let searched = 0;
  let count = 0;
  let busy = false;

  const waiting = new Map();
  const kept = new Map();
  window.galleryPage = (name, rows) => {
    kept.set(name, rows);
    if (kept.size > 8) kept.delete(kept.keys().next().value);
    const done = waiting.get(name);
    waiting.delete(name);
    if (done) done(rows);
  };
  const load = (name) => kept.has(name) ? Promise.resolve(kept.get(name)) : new Promise((resolve) => {
    const script = document.createElement('script');
    const end = (rows) => { script.remove(); resolve(rows); };
    waiting.set(name, end);
    script.onerror = () => { waiting.delete(name); end([]); };
    script.src = 'data/' + name + '.js';
    document.head.append(script);
  });

  const toneOf = new Map(gallery.outcomes.map(([outcome, , tone]) => [outcome, tone]));
  const SIGNS = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  // The row's own text: its key, prompt, message, ids and values, without the page's labels.
  const textOf = (card) => [...card.matchAll(/(?:<bdi>|dir="auto">)([^<]*)/g)].map(([, text]) => text).join('\\n')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => SIGNS[name]);

  const say = () => {
    const isOver = place.step >= steps.length;
    more.hidden = isOver;
    if (!filters.isSearch()) filters.say(total === 0 ? 'No matching rows' : number(count) + ' of ' + number(total) + ' shown');
    else if (isOver) filters.say(count === 0 ? 'No rows found' : number(count) + ' found');
    else filters.say(number(count) + ' found in ' + number(searched) + ' of ' + number(total) + ' rows');
  };
  const showMore = async () => {
    if (busy) return;
    busy = true;
    const mine = run;
    let room = STEP;
    while (room > 0 && place.step < steps.length) {
      const [name, tones] = steps[place.step];
      const rows = await load(name);
      if (mine !== run) break;
      const template = document.createElement('template');
      let html = '';
      while (room > 0 && place.card < rows.length) {
        const [outcome, kind, model, card] = rows[place.card];
        place.card += 1;
        if (!tones.includes(toneOf.get(outcome)) || !filters.fits({ outcome, kind, model })) continue;
        searched += 1;
        if (filters.isSearch() && !filters.finds(textOf(card))) continue;
        html += card;
        room -= 1;
        count += 1;
      }
      template.innerHTML = html;
      watch(template.content);
      cards.append(template.content);
      if (place.card >= rows.length) place = { step: place.step + 1, card: 0 };
      if (!filters.isSearch() && count >= total) place = { step: steps.length, card: 0 };
      if (filters.isSearch()) say();
    }
    busy = false;
    if (mine !== run) return showMore();
    say();
    // The button is still visible, so the observer does not fire again.
    requestAnimationFrame(() => {
      if (!more.hidden && more.getBoundingClientRect().top < innerHeight + AHEAD) showMore();
    });
  };
  const groupOf = ([outcome, kind, model, rows]) => {
    const [word, label, tone] = gallery.outcomes[outcome];
    return { outcome: word, label, tone, kind: gallery.kinds[kind], model: gallery.models[model], rows };
  };
  const pages = gallery.pages.map(([name, groups]) => ({ name, groups: groups.map(groupOf) }));
  const show = () => {
    run += 1;
    count = 0;
    searched = 0;
    place = { step: 0, card: 0 };
    const fitting = pages.map(({ name, groups }) => ({ name, groups: groups.filter(filters.fits) }));
    total = fitting.flatMap(({ groups }) => groups).reduce((sum, { rows }) => sum + rows, 0);
    steps = filters.passes().flatMap((tones) =>
      fitting.filter(({ groups }) => groups.some(({ tone }) => tones.includes(tone))).map(({ name }) => [name, tones]));
    const names = new Set(steps.map(([name]) => name));
    for (const item of document.querySelectorAll('.pages li')) item.hidden = !names.has(item.dataset.page);
    for (const video of cards.querySelectorAll('video')) sight.unobserve(video);
    cards.replaceChildren();
    filters.say('Loading');
    showMore();
  };
  const filters = rowFilters(document.getElementById('filters'), show);
  more.addEventListener('click', showMore);
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && !more.hidden) showMore();
  }, { rootMargin: AHEAD + 'px' }).observe(more);
  filters.use(pages.flatMap(({ groups }) => groups));
})();
`;

/** The gallery's style sheet. */
export const GALLERY_STYLE = `${PAGE_STYLE}body { max-width: 1560px; }
.top { padding: 36px 0 16px; }
.top.slim { padding-top: 20px; display: grid; gap: 4px 24px; grid-template-columns: 1fr auto; align-items: end; }
.top.slim h1 { margin: 0; font-size: 24px; }
.crumb { grid-column: 1 / -1; margin: 0; }
.sub { margin: 6px 0 20px; color: var(--soft); }
.badge.running::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: currentColor; }
@media (prefers-reduced-motion: no-preference) { .badge.running::before { animation: pulse 1.6s ease-in-out infinite; } }
@keyframes pulse { 50% { opacity: .25; } }
.bar { display: block; width: 100%; height: 12px; border-radius: 6px; background: var(--line); }
.bar .good { fill: var(--good); } .bar .bad { fill: var(--bad); } .bar .wait { fill: var(--wait); }
.tiles { display: grid; gap: 12px; margin: 12px 0; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
.tile { display: flex; flex-direction: column; padding: 14px 16px; border: 1px solid var(--line); border-radius: 12px; background: var(--card); box-shadow: var(--shadow); }
.tile strong { font-size: 24px; line-height: 1.2; letter-spacing: -.01em; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; }
.tile small { color: var(--soft); font-size: 12px; }
.money .tile strong { font-size: 20px; }
.tile.good strong { color: var(--good); } .tile.bad strong { color: var(--bad); } .tile.wait strong { color: var(--wait); }
.notes { margin: 12px 0; padding: 12px 16px 12px 32px; border-radius: 12px; background: var(--wait-soft); color: var(--wait); }
.issues { margin: 12px 0; padding: 12px 16px; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
.issues table { width: 100%; margin-top: 8px; border-collapse: collapse; font-size: 14px; }
.issues th, .issues td { padding: 4px 12px 4px 0; text-align: start; vertical-align: top; overflow-wrap: anywhere; }
.filters { position: sticky; top: 0; z-index: 2; margin: 20px 0 16px; padding: 12px 0;
  background: color-mix(in srgb, var(--ground) 92%, transparent); backdrop-filter: blur(8px); border-bottom: 1px solid var(--line); }
.pager a { padding: 5px 12px; border: 1px solid var(--line); border-radius: 99px; background: var(--card); text-decoration: none; }
.cards { display: grid; gap: 16px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); align-items: start; }
.card { display: flex; flex-direction: column; border: 1px solid var(--line); border-radius: 14px; background: var(--card); box-shadow: var(--shadow); overflow: hidden;
  scroll-margin-top: 130px; content-visibility: auto; contain-intrinsic-size: auto 420px; }
.media { position: relative; aspect-ratio: 16 / 9; background: var(--screen); }
.media video, .media img { position: absolute; inset: 0; display: block; width: 100%; height: 100%; object-fit: contain; }
.media.images.several { display: grid; gap: 2px; grid-template-columns: repeat(2, 1fr); aspect-ratio: auto; }
.media.images.several a { position: relative; aspect-ratio: 16 / 10; }
.media a { display: block; height: 100%; }
.trouble { min-height: 120px; padding: 16px; background: var(--bad-soft); border-bottom: 1px solid var(--line); font-size: 14px; }
.card.wait .trouble { background: var(--wait-soft); }
.trouble.none { display: grid; place-items: center; background: var(--ground); color: var(--soft); text-align: center; }
.trouble p { margin: 0 0 8px; }
.trouble code { display: inline-block; max-width: 100%; padding: 1px 6px; border-radius: 6px; background: var(--card); font-size: 12.5px; overflow-wrap: anywhere; }
.trouble blockquote { margin: 0 0 8px; padding-inline-start: 10px; border-inline-start: 3px solid var(--bad); max-height: 7.5em; overflow: auto; overflow-wrap: anywhere; white-space: pre-wrap; }
.card.wait .trouble blockquote { border-color: var(--wait); }
.todo strong { display: block; font-size: 12px; letter-spacing: .04em; text-transform: uppercase; color: var(--soft); }
.body { padding: 12px 16px 14px; }
.card header { display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; }
.card h3 { flex-basis: 100%; margin: 2px 0 0; font-size: 15px; overflow-wrap: anywhere; }
.card .badge { padding: 1px 10px; font-size: 12.5px; }
.kind { color: var(--soft); font-size: 12.5px; }
.prompt { margin: 8px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.prompt.none { color: var(--soft); font-style: italic; }
details.prompt summary { cursor: pointer; list-style-position: inside; }
details.prompt[open] summary { color: transparent; font-size: 0; }
details.prompt[open] summary::after { content: "Collapse the prompt"; font-size: 13px; color: var(--accent); }
details.prompt p { max-height: 60vh; overflow: auto; }
.facts { display: flex; flex-wrap: wrap; gap: 6px 20px; margin: 10px 0 6px; }
dd small { color: var(--soft); }
.differs dd { color: var(--wait); font-weight: 600; }
.warnings { margin: 6px 0; padding-inline-start: 18px; color: var(--wait); font-size: 13.5px; overflow-wrap: anywhere; }
.note { margin: 6px 0; color: var(--bad); font-size: 14px; }
.more summary { cursor: pointer; color: var(--accent); font-size: 13.5px; }
.more dl { display: grid; gap: 6px; margin: 8px 0 0; }
.more dl div { display: grid; gap: 8px; grid-template-columns: 108px minmax(0, 1fr); }
.pages ol { display: grid; gap: 8px; margin: 0; padding: 0; list-style: none; grid-template-columns: repeat(auto-fill, minmax(120px, 1fr)); }
.pages a { display: flex; flex-direction: column; padding: 8px 12px; border: 1px solid var(--line); border-radius: 10px; background: var(--card); color: inherit; text-decoration: none; }
.pages a:hover { border-color: var(--accent); }
.pages span { color: var(--soft); font-size: 13px; } .pages em { color: var(--bad); font-size: 13px; font-style: normal; }
.pager { display: flex; gap: 8px; min-height: 34px; }
.empty { padding: 48px 0; text-align: center; color: var(--soft); }
footer { margin-top: 40px; padding-top: 16px; border-top: 1px solid var(--line); color: var(--soft); font-size: 14px; }
kbd { padding: 0 6px; border: 1px solid var(--line); border-radius: 5px; background: var(--card); font: inherit; font-size: 12.5px; }
@media (max-width: 640px) { .keys { display: none; } }
@media (max-width: 640px), (max-height: 600px) { .filters { position: static; } }
@media print { .pager { display: none; } .card { break-inside: avoid; } }
`;
