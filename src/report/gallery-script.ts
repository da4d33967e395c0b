/**
 * The script of the gallery. Pages opened from disk may not fetch: data/index.js sets `gallery`, each data/page-….js
 * calls `galleryPage(name, [[outcome, model, card], …])`, where a card is the escaped HTML of the page's own template.
 */
export const GALLERY_SCRIPT = `'use strict';
(() => {
  const STEP = 60;
  const AHEAD = 600;
  const gallery = window.gallery || { pages: [], outcomes: [], models: [] };
  const cards = document.getElementById('cards');
  const isIndex = document.body.dataset.page === '';

  // Pages beside this one.
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

  // A video that comes into sight loads its first picture; one that leaves unplayed lets go of it.
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

  // Keys: on a card, not in a control of its own.
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
    // Still in sight: nobody will be told that it came into it.
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
    // At once: the address tells of it only later, and a second choice may come before.
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
