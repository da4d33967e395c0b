import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readWireFixture, type WireFixture } from '../../support/wire-fixture';

const FOLDER = path.resolve(__dirname, '..', '..', 'fixtures', 'wire');

/** Bodies that services really send, as bytes: those of the fixtures of these kinds. */
export function wireSamples(...kinds: readonly WireFixture['kind'][]): Buffer[] {
  return readdirSync(FOLDER)
    .map((name) => readWireFixture(name, readFileSync(path.join(FOLDER, name), 'utf8')))
    .filter((fixture) => kinds.includes(fixture.kind) && fixture.body !== undefined)
    .map(({ body }) => Buffer.from(JSON.stringify(body)));
}

/** Every name of a field and every short text in samples: what a mutation puts where it does not belong. */
export function wordsOf(samples: readonly Buffer[]): string[] {
  const words = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value === 'string' && value.length <= 60) words.add(value);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) words.add(name);
      walk(inner);
    }
  };
  for (const sample of samples) walk(JSON.parse(sample.toString('utf8')));
  return [...words];
}
