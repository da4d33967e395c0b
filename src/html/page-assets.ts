/** The style of all pages, light or dark depending on the reader's setting. Each page adds its own rules. */
export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --ground: #f5f6f8; --card: #ffffff; --text: #16191f; --soft: #5b6472; --line: #dfe3e9; --accent: #3157d5;
  --good: #14804a; --good-soft: #e2f5ea; --bad: #b3261e; --bad-soft: #fdeceb; --wait: #8a5a00; --wait-soft: #fdf3dc;
  --plain: #6f86c9; --wait-bar: #d99a1c; --screen: #0d1016; --shadow: 0 1px 2px rgb(20 30 50 / .06), 0 4px 16px rgb(20 30 50 / .05);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1217; --card: #181c23; --text: #e9ecf1; --soft: #9aa4b2; --line: #2a303a; --accent: #8fa9ff;
    --good: #5fd39a; --good-soft: #12301f; --bad: #ff8f86; --bad-soft: #3a1917; --wait: #f0c05a; --wait-soft: #35290f;
    --plain: #6d7fb8; --wait-bar: #c7932f; --screen: #06080b; --shadow: none;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0 auto; padding: 0 clamp(16px, 3vw, 40px) 64px; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", sans-serif; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
h1 { margin: 12px 0 0; font-size: clamp(24px, 3.2vw, 36px); line-height: 1.2; letter-spacing: -.02em; overflow-wrap: anywhere; }
h1 span, h2 small { color: var(--soft); font-weight: 400; }
h2 { margin: 32px 0 12px; font-size: 18px; }
h2 small { margin-inline-start: 6px; font-size: 13px; }
dt { color: var(--soft); font-size: 12px; }
dd { margin: 0; font-size: 14px; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
bdi, [dir="auto"] { unicode-bidi: isolate; }
.badge { display: inline-flex; align-items: center; gap: 8px; margin: 0; padding: 3px 12px; border-radius: 99px; font-size: 13px; font-weight: 600; background: var(--line); }
.badge.good { background: var(--good-soft); color: var(--good); } .badge.bad { background: var(--bad-soft); color: var(--bad); } .badge.wait { background: var(--wait-soft); color: var(--wait); }
button, select, input { font: inherit; color: inherit; padding: 5px 12px; border: 1px solid var(--line); border-radius: 99px; background: var(--card); }
button, select { cursor: pointer; }
button:hover, select:hover, input:hover { border-color: var(--accent); }
button[aria-pressed="true"] { background: var(--text); border-color: var(--text); color: var(--ground); }
.filters { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin: 12px 0; }
.filters label { display: flex; gap: 8px; align-items: center; max-width: 100%; color: var(--soft); font-size: 14px; }
.filters select, .filters input { min-width: 0; max-width: 220px; color: var(--text); text-overflow: ellipsis; }
.chips { display: flex; flex-wrap: wrap; gap: 8px; width: 100%; }
.chip b { margin-inline-start: 4px; font-variant-numeric: tabular-nums; color: var(--soft); }
.chip.good b { color: var(--good); } .chip.bad b { color: var(--bad); } .chip.wait b { color: var(--wait); }
.chip[aria-pressed="true"] b { color: inherit; }
#shown { margin: 0 0 0 auto; color: var(--soft); font-size: 14px; font-variant-numeric: tabular-nums; }
.more-rows { margin: 16px 0; text-align: center; }
@media (max-width: 640px) {
  .filters label { flex: 1 1 100%; justify-content: space-between; } .filters select, .filters input { flex: 0 1 70%; max-width: 70%; } #shown { margin: 0; }
}
@media print { .filters, .more-rows { display: none; } }
`;

/** Row tones in the order "Failed first". */
export const TONES = ['bad', 'wait', 'plain', 'good'] as const;

/**
 * The part of a page's script that filters, searches and sorts a campaign's rows. The filters are stored in the URL
 * fragment, `#outcome=failed&kind=capacity&model=cine-1&search=boat&order=manifest`, so that the back button, a reload
 * and a link preserve them. `rowFilters(form, changed)` fills the form for `groups` of rows,
 * `[{ outcome, label, tone, kind, model, rows }]` with kind '' for none, and calls `changed` when the filters change.
 */
export const ROW_FILTERS_SCRIPT = `
  const TONES = ${JSON.stringify(TONES)};
  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const number = (value) => value.toLocaleString('en-US');

  const rowFilters = (form, changed) => {
    const NAMES = ['outcome', 'kind', 'model', 'search', 'order'];
    const chips = make('div', { class: 'chips', role: 'group', 'aria-label': 'Outcome' });
    const selects = Object.fromEntries(['kind', 'model', 'order'].map((name) => [name, make('select', { id: name })]));
    const search = make('input', { id: 'search', type: 'search', autocomplete: 'off', spellcheck: 'false' });
    const shown = make('p', { id: 'shown', role: 'status', 'aria-live': 'polite' });
    const named = (name, control) => make('label', {}, name + ' ', control);
    form.replaceChildren(chips, named('Kind', selects.kind), named('Model', selects.model), named('Order', selects.order), named('Search', search), shown);
    let wanted = {};
    let typing;

    const read = () => {
      const asked = new URLSearchParams(location.hash.slice(1));
      // A value that no row has, such as an outcome from an older report, is ignored.
      const known = { outcome: [...chips.children].map(({ dataset }) => dataset.outcome) };
      for (const [name, select] of Object.entries(selects)) known[name] = [...select.options].map(({ value }) => value);
      wanted = Object.fromEntries(NAMES.map((name) => {
        const value = asked.get(name) || '';
        return [name, name === 'search' || known[name].includes(value) ? value : ''];
      }));
      for (const chip of chips.children) chip.setAttribute('aria-pressed', String(chip.dataset.outcome === wanted.outcome));
      for (const [name, select] of Object.entries(selects)) select.value = wanted[name];
      if (typing === undefined) search.value = wanted.search;
      changed();
    };
    // Updates the filters immediately, because hashchange fires later and another change may come first. The fragment
    // is never empty, because an empty one would scroll to the top.
    const address = (change) => {
      wanted = { ...wanted, ...change };
      const next = new URLSearchParams({ outcome: wanted.outcome });
      for (const name of NAMES.slice(1)) if (wanted[name] !== '') next.set(name, wanted[name]);
      return '#' + next;
    };
    const seek = () => {
      clearTimeout(typing);
      typing = undefined;
      location.replace(address({ search: search.value.trim() }));
    };
    form.addEventListener('submit', (event) => { event.preventDefault(); seek(); });
    search.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(seek, 150); });
    chips.addEventListener('click', ({ target }) => {
      const chip = target.closest('.chip');
      if (chip !== null) location.hash = address({ outcome: chip.dataset.outcome });
    });
    for (const [name, select] of Object.entries(selects)) select.addEventListener('change', () => { location.hash = address({ [name]: select.value }); });
    window.addEventListener('hashchange', read);

    return {
      use: (groups) => {
        const sums = (name) => {
          const found = new Map();
          for (const group of groups) found.set(group[name], (found.get(group[name]) || 0) + group.rows);
          return found;
        };
        const chip = (group, rows) => make('button', { type: 'button', class: 'chip ' + group.tone, 'data-outcome': group.outcome }, group.label + ' ', make('b', {}, number(rows)));
        const all = groups.reduce((sum, { rows }) => sum + rows, 0);
        const ordered = [...sums('outcome')].map(([outcome, rows]) => [groups.find((group) => group.outcome === outcome), rows]);
        ordered.sort(([a], [b]) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone));
        chips.replaceChildren(chip({ outcome: '', label: 'All', tone: '' }, all), ...ordered.map(([group, rows]) => chip(group, rows)));
        for (const [name, every, least] of [['kind', 'All kinds', 1], ['model', 'All models', 2]]) {
          const found = [...sums(name)].filter(([value]) => value !== '').sort(([a], [b]) => (a < b ? -1 : 1));
          selects[name].replaceChildren(make('option', { value: '' }, every), ...found.map(([value, rows]) =>
            make('option', { value }, (name === 'kind' ? value.replaceAll('_', ' ') : value) + ' (' + number(rows) + ')')));
          selects[name].parentElement.hidden = found.length < least;
        }
        selects.order.replaceChildren(make('option', { value: '' }, 'Failed first'), make('option', { value: 'manifest' }, 'Manifest order'));
        form.hidden = all === 0;
        read();
      },
      fits: (row) => ['outcome', 'kind', 'model'].every((name) => wanted[name] === '' || row[name] === wanted[name]),
      finds: (text) => text.toLowerCase().includes(wanted.search.toLowerCase()),
      isSearch: () => wanted.search !== '',
      /** The tones of each pass over the rows. In manifest order, there is a single pass. */
      passes: () => (wanted.order === 'manifest' ? [TONES] : TONES.map((tone) => [tone])),
      say: (text) => { shown.textContent = text; },
    };
  };
`;
