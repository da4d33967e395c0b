import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { METRICS } from '../../src/domain/metrics';

const read = (name: string) => readFileSync(path.resolve(__dirname, '..', '..', 'docs', name), 'utf8');
const tabled = (text: string) => text.replace(/ +/g, ' ');

describe('docs/metrics.md', () => {
  const page = tabled(read('metrics.md'));

  it('has every metric, as the code has it, in its order', () => {
    const rows = Object.values(METRICS).map(({ name, kind, labels, help }) => {
      const named = labels.length === 0 ? 'none' : labels.map((label) => `\`${label}\``).join(', ');
      return `| \`${name}\` | ${kind} | ${named} | ${help} |`;
    });
    expect(page).toContain(rows.join('\n'));
  });
});

describe('names of metrics', () => {
  it('are in the style of the SDK, and none is used twice', () => {
    const names = Object.values(METRICS).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^temporal_media_[a-z]+(_[a-z]+)*$/);
  });
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

describe('docs/alerts.yml', () => {
  const { groups } = parse(read('alerts.yml')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  const used = /\b(temporal_media_[a-z_]+?)(?:_(?:bucket|sum|count))?\b(?:\{([^}]*)\})?/g;

  it('uses labels that the metric has, in selectors and in texts', () => {
    const labelsOf = new Map<string, readonly string[]>(
      Object.values(METRICS).map(({ name, labels }) => [name, labels]),
    );
    for (const { alert, expr, annotations } of rules) {
      for (const [, name = '', selector = ''] of expr.matchAll(used)) {
        const labels = [...selector.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label);
        const known = labelsOf.get(name);
        expect({ alert, name, unknown: labels.filter((label) => !known?.includes(label ?? '')) }).toEqual({
          alert,
          name,
          unknown: [],
        });
      }
      // A sum loses all labels but those that it is made by.
      const kept = new Set([...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, by = '']) => by.split(/, */)));
      const shown = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
      expect({ alert, lost: shown.filter((label) => !kept.has(label ?? '')) }).toEqual({ alert, lost: [] });
    }
  });

  it('has a name, a severity and a summary for each rule', () => {
    expect(rules.length).toBeGreaterThan(8);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { labels, annotations } of rules) {
      expect(labels.severity).toMatch(/^(page|ticket)$/);
      expect(annotations.summary).not.toBe('');
    }
  });
});

describe('docs/grafana-dashboard.json', () => {
  const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
    readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
    readonly panels: readonly {
      readonly id: number;
      readonly targets: readonly { readonly expr: string }[];
    }[];
  };

  it('has one variable, the data source, and shows every metric', () => {
    expect(dashboard.templating.list).toMatchObject([{ name: 'datasource', type: 'datasource' }]);
    const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
    const missing = Object.values(METRICS).filter(({ name }) => !shown.includes(name));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });
});
