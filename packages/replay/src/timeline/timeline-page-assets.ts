import { PAGE_STYLE, ROW_FILTERS_SCRIPT } from 'temporal-media/internal/html/page-assets';

/**
 * The timeline page's script. It creates elements from the data in the page and never parses HTML, because all text is
 * untrusted.
 */
export const TIMELINE_SCRIPT = `'use strict';
(() => {${ROW_FILTERS_SCRIPT}
  const data = JSON.parse(document.getElementById('data').textContent);
  const by = (id) => document.getElementById(id);
  const SVG = 'http://www.w3.org/2000/svg';
  const draw = (name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const words = (name) => name.replace(/Ms$/, '').replace(/([A-Z])/g, ' $1').replaceAll('_', ' ').toLowerCase();
  const span = (ms) => {
    if (ms < 1000) return Math.round(ms) + ' ms';
    if (ms < 60000) return (ms / 1000).toFixed(1).replace(/\\.0$/, '') + ' s';
    const s = Math.round(ms / 1000), m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24);
    if (m < 60) return m + ' min ' + (s % 60) + ' s';
    return h < 24 ? h + ' h ' + (m % 60) + ' min' : d + ' d ' + (h % 24) + ' h';
  };
  const two = (value) => String(value).padStart(2, '0');
  const offset = (ms, step) => {
    const s = Math.floor(ms / 1000), m = Math.floor(s / 60), h = Math.floor(m / 60);
    if (step < 1000) return (ms / 1000).toFixed(step < 100 ? 2 : 1) + ' s';
    if (m < 1) return s + ' s';
    if (h < 1) return m + ':' + two(s % 60);
    return h < 24 ? h + ':' + two(m % 60) + (step < 60000 ? ':' + two(s % 60) : '') : Math.floor(h / 24) + ' d ' + (h % 24) + ':' + two(m % 60);
  };
  /** A campaign's axis shows the time of day in UTC, and the date at midnight. */
  const clock = (ms, step) => {
    const iso = new Date(ms).toISOString();
    if (step >= 864e5 || ms % 864e5 === 0) return iso.slice(5, 10);
    return iso.slice(11, step < 100 ? 22 : step < 1000 ? 21 : step < 60000 ? 19 : 16);
  };
  const timeText = (ms, step) => data.clock ? clock(shown.began + ms, step) : offset(ms, step);
  const STEPS = [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5, 1728e5, 6048e5];

  const value = (name, fact) => {
    if (Array.isArray(fact)) {
      const list = make('ul');
      for (const one of fact) list.append(make('li', {}, value('', one)));
      return list;
    }
    if (typeof fact === 'object' && fact !== null) return facts(fact);
    const text = typeof fact === 'number' && /Ms$/.test(name) ? span(fact) : typeof fact === 'number' ? fact.toLocaleString('en-US') : fact === true ? 'yes' : fact === false ? 'no' : fact === null ? 'none' : fact;
    return make('bdi', {}, String(text));
  };
  const facts = (given) => {
    const list = make('dl', { class: 'facts' });
    for (const [name, fact] of Object.entries(given)) list.append(make('div', {}, make('dt', {}, words(name)), make('dd', {}, value(name, fact))));
    return list;
  };

  let shown;
  let view = [0, 1];
  const chart = by('chart');
  const LABEL = 16, BAR = 16, GAP = 4, AXIS = 24;
  const LANES = Object.keys(data.lanes);

  /** Puts overlapping entries on separate lines. */
  const lined = (items) => {
    const ends = [];
    return [...items].sort((a, b) => a.from - b.from).map((item) => {
      let line = ends.findIndex((end) => end <= item.from);
      if (line < 0) line = Math.min(ends.length, 29);
      ends[line] = Math.max(item.to, item.from);
      return { ...item, line };
    });
  };

  const layout = (timeline, shownRows) => {
    let y = AXIS;
    const lanes = [];
    for (const lane of LANES) {
      const items = lined(timeline.items.filter((item) => item.lane === lane));
      if (items.length === 0) continue;
      const lines = 1 + Math.max(...items.map((item) => item.line));
      lanes.push({ lane, y, items });
      y += LABEL + lines * (BAR + GAP) + 6;
    }
    const timed = shownRows.filter((row) => row.from !== null);
    const rows = timed.length === 0 ? null : { y, rows: timed, high: timed.length > 100 ? 4 : 10 };
    if (rows) y += LABEL + timed.length * rows.high + 8;
    return { lanes, rows, height: y };
  };

  const paint = () => {
    const width = chart.clientWidth;
    const [from, to] = view;
    const x = (ms) => ((ms - from) / (to - from)) * width;
    const { lanes, rows, height } = shown.layout;
    const svg = draw('svg', { width, height, viewBox: '0 0 ' + width + ' ' + height });
    const step = STEPS.find((one) => ((to - from) / one) <= Math.max(3, width / 90)) || STEPS.at(-1);
    const zero = data.clock ? shown.began : 0;
    for (let at = Math.ceil((from + zero) / step) * step - zero; at <= to; at += step) {
      svg.append(draw('line', { class: 'tick', x1: x(at), x2: x(at), y1: 16, y2: height }));
      const anchor = x(at) < 20 ? 'start' : x(at) > width - 40 ? 'end' : 'middle';
      svg.append(draw('text', { class: 'time', x: Math.min(width - 1, Math.max(1, x(at))), y: 11, 'text-anchor': anchor }, timeText(at, step)));
    }
    const { deadline } = shown.timeline;
    if (deadline !== null && deadline >= from && deadline <= to) {
      svg.append(draw('line', { class: 'deadline', x1: x(deadline), x2: x(deadline), y1: 16, y2: height }));
      svg.append(draw('text', { class: 'deadline', x: Math.max(1, x(deadline) - 3), y: AXIS + 8, 'text-anchor': 'end' }, 'deadline'));
    }
    for (const { lane, y, items } of lanes) {
      svg.append(draw('line', { class: 'lane', x1: 0, x2: width, y1: y, y2: y }));
      const marks = [];
      for (const item of items) {
        if (item.to < from || item.from > to) continue;
        const left = Math.max(-6, x(item.from));
        const wide = Math.min(width + 6, x(item.to)) - left;
        const moment = wide < 7;
        const bar = draw('rect', { class: 'item ' + item.tone + ' lane-' + item.lane + (shown.chosen === item.entry ? ' chosen' : ''), x: moment ? Math.min(width - 7, Math.max(0, left + wide / 2 - 3.5)) : left, y: y + LABEL + item.line * (BAR + GAP), width: moment ? 7 : wide, height: BAR, rx: moment ? 3.5 : 4, 'data-entry': item.entry });
        bar.append(draw('title', {}, shown.timeline.entries[item.entry].text));
        marks.push(bar);
      }
      svg.append(...marks, draw('text', { class: 'name', x: 2, y: y + 12 }, data.lanes[lane]));
    }
    if (rows) {
      svg.append(draw('line', { class: 'lane', x1: 0, x2: width, y1: rows.y, y2: rows.y }));
      rows.rows.forEach((row, index) => {
        const end = row.to === null ? shown.timeline.whole : row.to;
        if (end < from || row.from > to) return;
        const y = rows.y + LABEL + index * rows.high;
        const title = row.key + ': ' + row.label;
        const left = Math.max(-4, x(row.from));
        const bar = draw('rect', { class: 'row ' + row.tone, x: left, y, width: Math.max(3, Math.min(width + 4, x(end)) - left), height: rows.high * .7, rx: 3, 'data-row': index });
        bar.append(draw('title', {}, title));
        svg.append(bar);
        if (row.made !== null && row.made >= from && row.made <= to) svg.append(draw('rect', { class: 'made', x: x(row.made) - 1, y: y - 1, width: 2, height: rows.high - 1 }));
      });
      svg.append(draw('text', { class: 'name', x: 2, y: rows.y + 12 }, 'Listed rows. Marks show when each video was created.'));
    }
    chart.replaceChildren(svg);
    by('range').textContent = from === shown.all[0] && to === shown.all[1] ? '' : timeText(from, to - from) + ' to ' + timeText(to, to - from);
  };

  let due = false;
  const repaint = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; paint(); });
  };
  const zoom = (factor, centre) => {
    const [least, most] = shown.all;
    const whole = most - least;
    const size = Math.min(whole, Math.max(20, (view[1] - view[0]) * factor));
    const at = centre === undefined ? (view[0] + view[1]) / 2 : centre;
    const share = (at - view[0]) / (view[1] - view[0]);
    move(at - share * size, size);
  };
  const move = (from, size) => {
    const [least, most] = shown.all;
    const start = Math.max(least, Math.min(most - size, from));
    view = [start, Math.min(most, start + size)];
    repaint();
  };
  const pan = (share) => move(view[0] + (view[1] - view[0]) * share, view[1] - view[0]);
  const all = () => { view = [...shown.all]; repaint(); };
  const timeAt = (clientX) => {
    const box = chart.getBoundingClientRect();
    return view[0] + ((clientX - box.left) / box.width) * (view[1] - view[0]);
  };

  const choose = (index) => {
    shown.chosen = index;
    const entry = by('entries').children[index];
    if (entry === undefined) return;
    for (const other of by('entries').children) if (other !== entry) other.classList.remove('chosen');
    entry.classList.add('chosen');
    const details = entry.querySelector('details');
    details.open = true;
    details.querySelector('summary').focus({ preventScroll: true });
    entry.scrollIntoView({ block: 'nearest' });
    repaint();
  };

  const chooseRow = (row) => {
    const chosen = by('body').children[shown.rows.indexOf(row)];
    for (const other of by('body').children) other.classList.toggle('chosen', other === chosen);
    chosen.scrollIntoView({ block: 'nearest' });
  };

  const MORE = 100;
  const findRows = () => {
    const found = shown.timeline.rows.filter((row) => filters.fits(row) && filters.finds([row.key, row.taskId, row.model, row.label, row.outcome, row.reason, row.cause].join('\\n')));
    shown.rows = filters.passes().flatMap((tones) => found.filter(({ tone }) => tones.includes(tone)));
    showRows(MORE);
  };
  /** The table and the chart show the same rows. */
  const showRows = (most) => {
    const { rows, timeline } = shown;
    shown.count = Math.min(rows.length, most);
    by('body').replaceChildren(...rows.slice(0, shown.count).map((row) => make('tr', { class: row.tone, 'data-outcome': row.outcome },
      make('th', { scope: 'row' }, make('bdi', {}, row.key)), make('td', {}, row.label + (row.cause ? ': ' + row.cause : '')),
      make('td', {}, row.batch === null ? '' : String(row.batch)), make('td', {}, String(row.creates)), make('td', {}, String(row.polls)), make('td', {}, make('bdi', {}, row.taskId || '')))));
    filters.say(rows.length === 0 ? 'No matching rows' : number(shown.count) + ' of ' + number(rows.length) + ' shown');
    by('more').hidden = shown.count === rows.length;
    shown.layout = layout(timeline, rows.slice(0, shown.count));
    repaint();
  };
  const filters = rowFilters(by('filters'), findRows);
  by('more').addEventListener('click', () => showRows(shown.count + MORE));

  const show = (index) => {
    const timeline = data.timelines[index];
    const end = Math.max(1, timeline.whole);
    shown = { timeline, layout: layout(timeline, []), all: [-end * 0.01, end * 1.01], chosen: -1, began: Date.parse(timeline.startedAt) || 0, rows: [], count: 0 };
    view = [...shown.all];
    const head = by('head');
    head.replaceChildren(
      make('p', { class: 'badge ' + timeline.tone }, timeline.label),
      make('h1', {}, make('span', {}, timeline.type), ' ', make('bdi', {}, timeline.id)),
    );
    if (timeline.advice) head.append(make('p', { class: 'advice ' + timeline.tone }, timeline.advice));
    const list = make('dl', { class: 'top' });
    for (const [name, text] of timeline.facts) list.append(make('div', {}, make('dt', {}, name), make('dd', {}, make('bdi', {}, text))));
    head.append(list);

    const spent = by('spent');
    while (spent.children.length > 1) spent.lastChild.remove();
    const sum = timeline.spent.reduce((total, part) => total + part.ms, 0) || 1;
    const bar = draw('svg', { class: 'whole', viewBox: '0 0 1000 14', preserveAspectRatio: 'none', role: 'img', 'aria-label': timeline.spent.map((part) => part.name + ' ' + part.text).join(', ') });
    let at = 0;
    const legend = make('ul', { class: 'legend' });
    for (const part of timeline.spent) {
      const wide = (part.ms / sum) * 1000;
      bar.append(draw('rect', { class: 'on-' + part.on, x: at, y: 0, width: wide, height: 14 }));
      at += wide;
      const percent = (part.ms / sum) * 100;
      legend.append(make('li', {}, make('i', { class: 'on-' + part.on }), make('span', {}, part.name), make('b', {}, part.text), make('small', {}, (percent < 1 ? '<1' : Math.round(percent)) + '%')));
    }
    spent.append(bar, legend);

    by('rows').hidden = timeline.rows.length === 0;
    by('left').textContent = timeline.rowsLeftOut === 0 ? '' : number(timeline.rowsLeftOut) + ' more rows are in the -o json output.';
    filters.use(timeline.rows.map((row) => ({ ...row, rows: 1 })));

    by('entries').replaceChildren(...timeline.entries.map((entry, number) => {
      const summary = make('summary', {}, make('time', { datetime: entry.at, title: entry.at }, entry.offset), make('span', { class: 'text' }, entry.text), make('small', {}, entry.events));
      const more = { what: entry.meaning, from: entry.at };
      if (entry.until !== entry.at) more.to = entry.until;
      const details = make('details', {}, summary);
      details.addEventListener('toggle', () => {
        if (!details.open || details.children.length > 1) return;
        details.append(facts({ ...more, ...entry.facts, events: entry.ids.length === 1 ? entry.ids[0] : entry.ids }));
      });
      summary.addEventListener('click', () => { shown.chosen = number; repaint(); });
      return make('li', { class: entry.tone + ' ' + entry.kind }, details);
    }));
    for (const button of by('others').children) button.setAttribute('aria-pressed', String(Number(button.dataset.index) === index));
    paint();
  };

  if (data.timelines.length > 1) {
    by('others').hidden = false;
    data.timelines.forEach((timeline, index) => {
      const button = make('button', { type: 'button', 'data-index': index, class: timeline.tone }, index === 0 ? timeline.name : timeline.id);
      button.addEventListener('click', () => show(index));
      by('others').append(button);
    });
  }
  by('in').addEventListener('click', () => zoom(0.5));
  by('out').addEventListener('click', () => zoom(2));
  by('earlier').addEventListener('click', () => pan(-0.3));
  by('later').addEventListener('click', () => pan(0.3));
  by('all').addEventListener('click', all);
  chart.addEventListener('wheel', (event) => {
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / chart.clientWidth);
    else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), timeAt(event.clientX));
    event.preventDefault();
  }, { passive: false });
  chart.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '+' || event.key === '=') zoom(0.5);
    else if (event.key === '-') zoom(2);
    else if (event.key === '0' || event.key === 'Home') all();
    else if (event.key === 'ArrowLeft') pan(-0.2);
    else if (event.key === 'ArrowRight') pan(0.2);
    else return;
    event.preventDefault();
  });
  // A press that moves is a drag. Without movement, it is a click on the element under the pointer.
  let drag = null;
  chart.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    const { entry, row } = event.target.dataset || {};
    drag = { x: event.clientX, view: [...view], moved: false, entry, row };
  });
  window.addEventListener('pointermove', (event) => {
    if (drag === null || (!drag.moved && Math.abs(event.clientX - drag.x) < 5)) return;
    drag.moved = true;
    const size = drag.view[1] - drag.view[0];
    move(drag.view[0] - ((event.clientX - drag.x) / chart.clientWidth) * size, size);
  });
  window.addEventListener('pointerup', () => {
    if (drag !== null && !drag.moved && drag.entry !== undefined) choose(Number(drag.entry));
    if (drag !== null && !drag.moved && drag.row !== undefined) chooseRow(shown.layout.rows.rows[drag.row]);
    drag = null;
  });
  window.addEventListener('pointercancel', () => { drag = null; });
  window.addEventListener('resize', repaint);
  show(0);
})();
`;

/** The page's style sheet. */
export const TIMELINE_STYLE = `${PAGE_STYLE}body { max-width: 1280px; padding-top: 24px; }
.advice { max-width: 75ch; margin: 8px 0; padding: 10px 14px; border-radius: 10px; background: var(--card); border: 1px solid var(--line); }
.advice.bad { border-color: var(--bad); } .advice.wait { border-color: var(--wait); }
.top { display: flex; flex-wrap: wrap; gap: 10px 28px; margin: 14px 0 0; }
#others { display: flex; flex-wrap: wrap; gap: 8px; margin-bottom: 16px; }
.whole { display: block; width: 100%; height: 14px; border-radius: 7px; background: var(--line); }
.legend { display: grid; gap: 2px 24px; margin: 10px 0 0; padding: 0; list-style: none; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); font-size: 14px; }
.legend li { display: flex; gap: 8px; align-items: baseline; font-variant-numeric: tabular-nums; }
.legend span { flex: 1; } .legend b { font-weight: 600; } .legend small { width: 5.5ch; white-space: nowrap; color: var(--soft); text-align: end; }
.legend i { width: 10px; height: 10px; border-radius: 3px; align-self: center; }
.on-downloading { fill: #1b9e77; background: #1b9e77; } .on-poll_requests { fill: #3b6fd4; background: #3b6fd4; }
.on-creating { fill: #8250c4; background: #8250c4; } .on-own_activities { fill: #c2418c; background: #c2418c; }
.on-bookkeeping { fill: #6b8e23; background: #6b8e23; } .on-workflow_code { fill: #4b5563; background: #4b5563; }
.on-waiting_for_worker { fill: #d1495b; background: #d1495b; } .on-waiting_for_person { fill: #e07a1f; background: #e07a1f; }
.on-retry_after { fill: #d9a400; background: #d9a400; } .on-own_backoff { fill: #b58bdc; background: #b58bdc; }
.on-workflow_failing { fill: #8c1c13; background: #8c1c13; } .on-waiting_for_key { fill: #a44a3f; background: #a44a3f; }
.on-waiting_for_money { fill: #5c7f2b; background: #5c7f2b; } .on-waiting_for_slot { fill: #93cdb9; background: #93cdb9; }
.on-waiting_for_polls { fill: #a9bde8; background: #a9bde8; } .on-until_reset { fill: #8d99a6; background: #8d99a6; }
.on-waiting_for_children { fill: #b9c0cc; background: #b9c0cc; } .on-own_timers { fill: #dfa6c5; background: #dfa6c5; } .on-nothing { fill: #d8dce3; background: #d8dce3; }
.tools { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin-bottom: 8px; }
.tools button { min-width: 38px; min-height: 34px; padding: 0 10px; }
#range { margin-inline-start: auto; color: var(--soft); font-size: 13px; font-variant-numeric: tabular-nums; }
#chart { padding: 0; border: 1px solid var(--line); border-radius: 12px; background: var(--card); overflow: hidden; touch-action: pan-y; cursor: grab; user-select: none; }
#chart:active { cursor: grabbing; }
#chart svg { display: block; }
#chart .tick, #chart .lane { stroke: var(--line); stroke-width: 1; }
#chart .time { fill: var(--soft); font-size: 11px; font-variant-numeric: tabular-nums; }
#chart .name { fill: var(--soft); font-size: 11px; font-weight: 600; pointer-events: none; paint-order: stroke; stroke: var(--card); stroke-width: 3px; }
#chart line.deadline { stroke: var(--bad); stroke-dasharray: 4 3; } #chart text.deadline { fill: var(--bad); font-size: 11px; }
#chart .item { fill: var(--plain); cursor: pointer; stroke: var(--card); stroke-width: 1; }
#chart .item.good, #chart .row.good { fill: var(--good); } #chart .item.bad, #chart .row.bad { fill: var(--bad); }
#chart .item.wait, #chart .row.wait { fill: var(--wait-bar); }
#chart .row { fill: var(--plain); opacity: .75; } #chart .made { fill: var(--text); }
#chart .item:hover { opacity: .8; } #chart .item.chosen { stroke: var(--text); stroke-width: 2; }
.table { overflow-x: auto; max-height: 60vh; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
table { width: 100%; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
thead th { position: sticky; top: 0; background: var(--card); color: var(--soft); font-size: 12px; font-weight: 400; text-align: start; }
th, td { padding: 5px 12px; border-bottom: 1px solid var(--line); text-align: start; white-space: nowrap; }
tbody th { font-weight: 400; } tr.chosen { background: color-mix(in srgb, var(--accent) 10%, transparent); }
td:nth-child(2) { min-width: 22ch; white-space: normal; overflow-wrap: anywhere; } tr.bad td:nth-child(2) { color: var(--bad); } tr.wait td:nth-child(2) { color: var(--wait); } tr.good td:nth-child(2) { color: var(--good); }
#entries { margin: 0; padding: 0; list-style: none; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
#entries li { border-bottom: 1px solid var(--line); scroll-margin: 80px; }
#entries li:last-child { border-bottom: 0; }
#entries li.chosen { background: color-mix(in srgb, var(--accent) 10%, transparent); }
summary { display: grid; gap: 4px 14px; padding: 7px 14px; grid-template-columns: 9ch minmax(0, 1fr) auto; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary time { color: var(--soft); font-variant-numeric: tabular-nums; text-align: end; }
summary .text { overflow-wrap: anywhere; } summary small { color: var(--soft); font-size: 12px; align-self: center; font-variant-numeric: tabular-nums; }
#entries li { border-inline-start: 4px solid transparent; }
#entries li.good { border-inline-start-color: var(--good); } #entries li.bad { border-inline-start-color: var(--bad); } #entries li.wait { border-inline-start-color: var(--wait-bar); }
li.bad .text { color: var(--bad); } li.wait .text { color: var(--wait); }
details > .facts { margin: 0; padding: 4px 14px 12px; }
.facts { display: grid; gap: 4px; }
.facts div { display: grid; gap: 10px; grid-template-columns: minmax(90px, 160px) minmax(0, 1fr); }
.facts .facts { margin: 0; } .facts ul { margin: 0; padding-inline-start: 16px; }
@media (max-width: 640px) { summary { grid-template-columns: 8ch minmax(0, 1fr); } summary small { grid-column: 2; } .facts div { grid-template-columns: minmax(0, 1fr); gap: 0; } }
@media print { .tools { display: none; } }
`;
