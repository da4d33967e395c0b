/** Tones of rows in the order "failed first". */
export const TONES = ['bad', 'wait', 'plain', 'good'] as const;

/**
 * The part of a page's script that filters, searches and orders the rows of a campaign. What is wanted stands in the
 * address, `#outcome=failed&kind=capacity&model=cine-1&search=boat&order=manifest`, so that back, reload and a link keep it.
 * `rowFilters(form, changed)` fills the form for `groups` of rows,
 * `[{ outcome, label, tone, kind, model, rows }]` with kind '' for none, and calls `changed` when something else is wanted.
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
      // What no row has, such as an outcome that a newer report has no more, filters nothing.
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
    // Set immediately: hashchange fires later, and a second choice may come first. Never empty: that scrolls to the top.
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
        selects.order.replaceChildren(make('option', { value: '' }, 'Failed first'), make('option', { value: 'manifest' }, 'As in the manifest'));
        form.hidden = all === 0;
        read();
      },
      fits: (row) => ['outcome', 'kind', 'model'].every((name) => wanted[name] === '' || row[name] === wanted[name]),
      finds: (text) => text.toLowerCase().includes(wanted.search.toLowerCase()),
      isSearch: () => wanted.search !== '',
      /** Tones of one pass over the rows; in the order of the manifest there is one pass. */
      passes: () => (wanted.order === 'manifest' ? [TONES] : TONES.map((tone) => [tone])),
      say: (text) => { shown.textContent = text; },
    };
  };
`;
