/** One series of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the text format of Prometheus. @throws for a line that is none of it */
export function readScrape(text: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', inner = '', value = ''] = /^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
      if (name === '' || Number.isNaN(Number(value.replace('Inf', 'Infinity')))) throw new Error(line);
      const labels = [...inner.matchAll(/([a-z_]\w*)="((?:[^"\\]|\\.)*)"/gi)];
      return {
        name,
        labels: Object.fromEntries(labels.map(([, label = '', is = '']) => [label, is])),
        value: Number(value),
      };
    });
}
