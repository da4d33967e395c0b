/**
 * The script of the gallery. Pages opened from disk cannot use fetch: data/index.js sets `gallery`, each data/page-….js
 * calls `galleryPage(name, [[outcome, model, card], …])`, where a card is the escaped HTML of the page's template.
 */
export const GALLERY_SCRIPT = `'use strict';
(() => {
  const STEP = 60;
  const AHEAD = 600;
  const gallery = window.gallery || { pages: [], outcomes: [], models: [] };
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

  // A visible video loads its first frame; one that leaves the view unplayed releases it.
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
  const filters = document.getElementById('filters');
  const chips = [...filters.querySelectorAll('.chip')];
  const model = document.getElementById('model');
  const shown = document.getElementById('shown');
  const more = document.getElementById('more');
  let run = 0;
  let wanted = { outcome: '', model: '' };
  let place = { page: 0, card: 0 };
  let matching = [];
  let total = 0;
  let count = 0;
  let busy = false;

  const fits = (outcome, name) => (wanted.outcome === '' || outcome === wanted.outcome) && (wanted.model === '' || name === wanted.model);
  const waiting = new Map();
  const kept = new Map();
  window.galleryPage = (name, rows) => {
    kept.set(name, rows);
    if (kept.size > 4) kept.delete(kept.keys().next().value);
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

  const say = () => {
    const number = (value) => value.toLocaleString('en-US');
    shown.textContent = total === 0 ? 'No row fits' : number(count) + ' of ' + number(total) + ' shown';
    more.hidden = count >= total;
  };
  const showMore = async () => {
    if (busy) return;
    busy = true;
    const mine = run;
    let room = STEP;
    while (room > 0 && place.page < matching.length) {
      const name = matching[place.page];
      const rows = await load(name);
      if (mine !== run) break;
      const template = document.createElement('template');
      let html = '';
      while (room > 0 && place.card < rows.length) {
        const [outcome, rowModel, card] = rows[place.card];
        place.card += 1;
        if (!fits(outcome, rowModel)) continue;
        html += card;
        room -= 1;
        count += 1;
      }
      template.innerHTML = html;
      watch(template.content);
      cards.append(template.content);
      if (place.card >= rows.length) place = { page: place.page + 1, card: 0 };
    }
    busy = false;
    if (mine !== run) return showMore();
    say();
    // The button is still visible, so the observer does not fire again.
    requestAnimationFrame(() => {
      if (!more.hidden && more.getBoundingClientRect().top < innerHeight + AHEAD) showMore();
    });
  };
  const show = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    wanted = { outcome: asked.get('outcome') || '', model: asked.get('model') || '' };
    run += 1;
    count = 0;
    total = 0;
    matching = [];
    place = { page: 0, card: 0 };
    for (const [name, groups] of gallery.pages) {
      const rows = groups.reduce((sum, [outcome, ofModel, n]) =>
        sum + (fits(gallery.outcomes[outcome], gallery.models[ofModel]) ? n : 0), 0);
      if (rows > 0) matching.push(name);
      total += rows;
    }
    const fitting = new Set(matching);
    for (const item of document.querySelectorAll('.pages li')) item.hidden = !fitting.has(item.dataset.page);
    for (const chip of chips) chip.setAttribute('aria-pressed', String(chip.dataset.outcome === wanted.outcome));
    model.value = wanted.model;
    for (const video of cards.querySelectorAll('video')) sight.unobserve(video);
    cards.replaceChildren();
    shown.textContent = 'Loading';
    showMore();
  };
  const choose = (change) => {
    // Set immediately: hashchange fires later, and a second choice may come first.
    wanted = { ...wanted, ...change };
    const next = new URLSearchParams();
    for (const [name, value] of Object.entries(wanted)) if (value !== '') next.set(name, value);
    location.hash = next.toString();
  };
  filters.hidden = false;
  filters.addEventListener('submit', (event) => event.preventDefault());
  for (const chip of chips) chip.addEventListener('click', () => choose({ outcome: chip.dataset.outcome }));
  model.addEventListener('change', () => choose({ model: model.value }));
  more.addEventListener('click', showMore);
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && !more.hidden) showMore();
  }, { rootMargin: AHEAD + 'px' }).observe(more);
  window.addEventListener('hashchange', show);
  show();
})();
`;

/** The style sheet of the gallery: light or dark by the reader's setting. */
export const GALLERY_STYLE = `:root {
  color-scheme: light dark;
  --ground: #f5f6f8; --card: #ffffff; --text: #16191f; --soft: #5b6472; --line: #dfe3e9; --accent: #3157d5;
  --good: #14804a; --good-soft: #e2f5ea; --bad: #b3261e; --bad-soft: #fdeceb; --wait: #8a5a00; --wait-soft: #fdf3dc;
  --screen: #0d1016; --shadow: 0 1px 2px rgb(20 30 50 / .06), 0 4px 16px rgb(20 30 50 / .05);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1217; --card: #181c23; --text: #e9ecf1; --soft: #9aa4b2; --line: #2a303a; --accent: #8fa9ff;
    --good: #5fd39a; --good-soft: #12301f; --bad: #ff8f86; --bad-soft: #3a1917; --wait: #f0c05a; --wait-soft: #35290f;
    --screen: #06080b; --shadow: none;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1560px; padding: 0 clamp(16px, 3vw, 40px) 64px; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", sans-serif; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
h1 { margin: 12px 0 0; font-size: clamp(26px, 3.2vw, 38px); line-height: 1.15; letter-spacing: -.02em; overflow-wrap: anywhere; }
h1 span { color: var(--soft); font-weight: 400; }
h2 { margin: 40px 0 12px; font-size: 18px; }
.top { padding: 36px 0 16px; }
.top.slim { padding-top: 20px; display: grid; gap: 4px 24px; grid-template-columns: 1fr auto; align-items: end; }
.top.slim h1 { margin: 0; font-size: 24px; }
.crumb { grid-column: 1 / -1; margin: 0; }
.sub { margin: 6px 0 20px; color: var(--soft); }
.state { display: inline-flex; align-items: center; gap: 8px; margin: 0; padding: 3px 12px 3px 10px; border-radius: 99px; font-size: 13px; font-weight: 600;
  background: var(--good-soft); color: var(--good); }
.state::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: currentColor; }
.state.running { background: var(--wait-soft); color: var(--wait); }
@media (prefers-reduced-motion: no-preference) { .state.running::before { animation: pulse 1.6s ease-in-out infinite; } }
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
.filters { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin: 20px 0 16px; padding: 12px 0;
  background: color-mix(in srgb, var(--ground) 92%, transparent); backdrop-filter: blur(8px); border-bottom: 1px solid var(--line); }
.filters[hidden] { display: none; }
.chips { display: flex; flex-wrap: wrap; gap: 8px; }
button, select { font: inherit; color: inherit; }
.chip, #more, select, .pager a { padding: 5px 12px; border: 1px solid var(--line); border-radius: 99px; background: var(--card); cursor: pointer; text-decoration: none; }
.chip b { margin-inline-start: 4px; font-variant-numeric: tabular-nums; color: var(--soft); }
.chip.good b { color: var(--good); } .chip.bad b { color: var(--bad); } .chip.wait b { color: var(--wait); }
.chip:hover, #more:hover { border-color: var(--accent); }
.chip[aria-pressed="true"] { background: var(--text); border-color: var(--text); color: var(--ground); }
.chip[aria-pressed="true"] b { color: inherit; }
.filters label { color: var(--soft); }
.filters select { max-width: 240px; }
#shown { margin: 0 0 0 auto; color: var(--soft); font-variant-numeric: tabular-nums; }
.cards { display: grid; gap: 16px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); align-items: start; }
.card { display: flex; flex-direction: column; border: 1px solid var(--line); border-radius: 14px; background: var(--card); box-shadow: var(--shadow); overflow: hidden;
  scroll-margin-top: 90px; content-visibility: auto; contain-intrinsic-size: auto 420px; }
.media { position: relative; aspect-ratio: 16 / 9; background: var(--screen); }
.media video, .media img { position: absolute; inset: 0; display: block; width: 100%; height: 100%; object-fit: contain; }
.media.images.several { display: grid; gap: 2px; grid-template-columns: repeat(2, 1fr); aspect-ratio: auto; }
.media.images.several a { position: relative; aspect-ratio: 16 / 10; }
.media a { display: block; height: 100%; }
.trouble { min-height: 120px; padding: 16px; background: var(--bad-soft); border-bottom: 1px solid var(--line); font-size: 14px; }
.card.wait .trouble { background: var(--wait-soft); }
.trouble.none { display: grid; place-items: center; background: var(--ground); color: var(--soft); text-align: center; }
.trouble p { margin: 0 0 8px; }
.trouble code { padding: 1px 6px; border-radius: 6px; background: var(--card); font-size: 12.5px; overflow-wrap: anywhere; }
.trouble blockquote { margin: 0 0 8px; padding-inline-start: 10px; border-inline-start: 3px solid var(--bad); max-height: 7.5em; overflow: auto; overflow-wrap: anywhere; white-space: pre-wrap; }
.card.wait .trouble blockquote { border-color: var(--wait); }
.todo strong { display: block; font-size: 12px; letter-spacing: .04em; text-transform: uppercase; color: var(--soft); }
.body { padding: 12px 16px 14px; }
.card header { display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; }
.card h3 { flex-basis: 100%; margin: 2px 0 0; font-size: 15px; overflow-wrap: anywhere; }
.badge { padding: 1px 10px; border-radius: 99px; font-size: 12.5px; font-weight: 600; background: var(--bad-soft); color: var(--bad); }
.card.good .badge { background: var(--good-soft); color: var(--good); }
.card.wait .badge { background: var(--wait-soft); color: var(--wait); }
.kind { color: var(--soft); font-size: 12.5px; }
bdi, [dir="auto"] { unicode-bidi: isolate; }
.prompt { margin: 8px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.prompt.none { color: var(--soft); font-style: italic; }
details.prompt summary { cursor: pointer; list-style-position: inside; }
details.prompt[open] summary { color: transparent; font-size: 0; }
details.prompt[open] summary::after { content: "Fold the prompt"; font-size: 13px; color: var(--accent); }
details.prompt p { max-height: 60vh; overflow: auto; }
.facts { display: flex; flex-wrap: wrap; gap: 6px 20px; margin: 10px 0 6px; }
dt { color: var(--soft); font-size: 12px; }
dd { margin: 0; font-size: 14px; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
dd small { color: var(--soft); }
.differs dd { color: var(--wait); font-weight: 600; }
.warnings { margin: 6px 0; padding-inline-start: 18px; color: var(--wait); font-size: 13.5px; overflow-wrap: anywhere; }
.note { margin: 6px 0; color: var(--bad); font-size: 14px; }
.more summary { cursor: pointer; color: var(--accent); font-size: 13.5px; }
.more dl { display: grid; gap: 6px; margin: 8px 0 0; }
.more dl div { display: grid; gap: 8px; grid-template-columns: 108px minmax(0, 1fr); }
.more-cards { margin: 20px 0; text-align: center; }
.pages ol { display: grid; gap: 8px; margin: 0; padding: 0; list-style: none; grid-template-columns: repeat(auto-fill, minmax(120px, 1fr)); }
.pages li[hidden] { display: none; }
.pages a { display: flex; flex-direction: column; padding: 8px 12px; border: 1px solid var(--line); border-radius: 10px; background: var(--card); color: inherit; text-decoration: none; }
.pages a:hover { border-color: var(--accent); }
.pages span { color: var(--soft); font-size: 13px; } .pages em { color: var(--bad); font-size: 13px; font-style: normal; }
.pager { display: flex; gap: 8px; min-height: 34px; }
.empty { padding: 48px 0; text-align: center; color: var(--soft); }
footer { margin-top: 40px; padding-top: 16px; border-top: 1px solid var(--line); color: var(--soft); font-size: 14px; }
kbd { padding: 0 6px; border: 1px solid var(--line); border-radius: 5px; background: var(--card); font: inherit; font-size: 12.5px; }
@media (max-width: 640px) { .keys { display: none; } .filters { position: static; } #shown { margin: 0; } }
@media print { .filters, .more-cards, .pager { display: none; } .card { break-inside: avoid; } }
`;
