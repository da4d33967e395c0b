import assert from 'node:assert/strict';
import { type RecordStore } from 'temporal-media/stores';
import { type ConformanceCheck } from './conformance-check';

type Run = (one: RecordStore, other: RecordStore, openAgain: () => RecordStore) => Promise<void>;

const check = (name: string, run: Run) => ({ name, run });

/** Guarantees for one record, from its first write to its removal. */
const RECORDS = [
  check('is empty at first', async (one) => {
    assert.equal(await one.read(`${KEY}0.entry`), null);
    assert.equal((await one.readAll(KEY)).size, 0);
    assert.deepEqual(await one.names('keys/', null, 10), []);
  }),
  check('keeps the first text for a name, and reports it to the second writer', async (one, other) => {
    assert.equal(await one.create(`${KEY}0.entry`, 'first'), 'won');
    assert.equal(await other.create(`${KEY}0.entry`, 'second'), 'lost');
    assert.equal(await other.create(`${KEY}0.entry`, 'first'), 'lost', 'even with the same text');
    assert.equal(await other.read(`${KEY}0.entry`), 'first');
  }),
  check('lets one of sixteen writers win', async (one, other) => {
    for (let round = 0; round < 4; round += 1) {
      const name = `${KEY}${round}.entry`;
      const writers = Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? one : other).create(name, `${n}`));
      const ends = await Promise.all(writers);
      assert.equal(ends.filter((end) => end === 'won').length, 1);
      assert.equal(await one.read(name), `${ends.indexOf('won')}`);
    }
  }),
  check('returns every text unchanged', async (one, other) => {
    const texts = ['', 'ü € 🎬 \\ "quoted" \n\t', '{"a":[1,null]}', 'x'.repeat(200_000)];
    for (const [n, text] of texts.entries()) await one.create(`${KEY}${n}.entry`, text);
    for (const [n, text] of texts.entries()) assert.equal(await other.read(`${KEY}${n}.entry`), text);
    const all = texts.map((text, n) => [`${KEY}${n}.entry`, text] as const);
    const many = await other.readMany?.([...all.map(([name]) => name), `${KEY}9.entry`]);
    if (many !== undefined) assert.deepEqual(sorted(many), all);
  }),
  check('immediately sees what another store has written or removed', async (one, other) => {
    for (let n = 0; n < 20; n += 1) {
      const name = `${KEY}${n}.entry`;
      assert.equal(await other.read(name), null);
      await one.create(name, `${n}`);
      assert.equal(await other.read(name), `${n}`);
      assert.equal((await other.readAll(name)).get(name), `${n}`);
      assert.deepEqual(await other.names(name, null, 1), [name]);
      await other.remove(name);
      assert.equal(await one.read(name), null);
      assert.deepEqual(await one.names(name, null, 1), []);
    }
  }),
  check('removes existing records, and ignores missing ones', async (one, other) => {
    await one.create(`${KEY}0.entry`, 'first');
    await other.remove(`${KEY}0.entry`);
    await other.remove(`${KEY}0.entry`);
    assert.equal(await one.create(`${KEY}0.entry`, 'second'), 'won');
    assert.equal(await other.read(`${KEY}0.entry`), 'second');
  }),
  check('overwrites hints, and removes them', async (one, other) => {
    await one.note('open/aa/a/x.json', 'first');
    await other.note('open/aa/a/x.json', 'second');
    assert.equal(await one.read('open/aa/a/x.json'), 'second');
    await one.note('open/aa/a/x.json', null);
    await one.note('open/aa/a/x.json', null);
    assert.equal(await other.read('open/aa/a/x.json'), null);
  }),
  check('keeps records when it is closed and reopened', async (one, _other, openAgain) => {
    await one.create(`${KEY}0.entry`, 'kept');
    await one.close?.();
    const again = openAgain();
    assert.equal(await again.read(`${KEY}0.entry`), 'kept');
    await again.close?.();
  }),
];

/** Guarantees for lists of records with a name prefix. */
const LISTINGS = [
  check('reads all records with a prefix, and nothing else', async (one, other) => {
    const names = ['1.entry', '1.note', '10.entry', '2.entry'].map((name) => `${KEY}${name}`);
    for (const name of [...names, `keys/aa/${'b'.repeat(64)}/1.entry`, `keys/ab/${'a'.repeat(64)}/1.entry`])
      await one.create(name, `text of ${name}`);
    const of = (...chosen: number[]) => new Map(chosen.map((n) => [names[n]!, `text of ${names[n]}`]));
    assert.deepEqual(sorted(await other.readAll(`${KEY}1.`)), sorted(of(0, 1)));
    assert.deepEqual(sorted(await other.readAll(KEY)), sorted(of(0, 1, 2, 3)));
  }),
  check('lists names in byte order, page by page', async (one, other) => {
    const hashes = ['00', '0f', '1a', 'a0', 'a1', 'ff'];
    const names = hashes.flatMap((hash) =>
      ['0.entry', '0.note', '1.entry', '10.entry', '2.entry', 'removal'].map(
        (name) => `keys/${hash}/${hash.repeat(32)}/${name}`,
      ),
    );
    for (const name of [...names].reverse()) await one.create(name, 'x');
    await one.create('journal.json', 'x');
    await one.create('marks/00.mark', 'x');
    const seen: string[] = [];
    for (let after: string | null = null; ;) {
      const page: readonly string[] = await other.names('keys/', after, 5);
      assert.ok(page.length <= 5);
      seen.push(...page);
      after = page.at(-1) ?? null;
      if (page.length < 5) break;
    }
    assert.deepEqual(seen, [...names].sort());
    // Sorts after every name of a key, wherever the key is stored.
    const prefix = `keys/0f/${'0f'.repeat(32)}/`;
    assert.deepEqual(await other.names('keys/', `${prefix}~`, 2), names.sort().slice(12, 14));
    assert.deepEqual((await other.names(prefix, null, 10)).length, 6);
    assert.deepEqual(await other.names('marks/00.mark', null, 1), ['marks/00.mark']);
  }),
];

/**
 * Returns the guarantees of every record store, no matter how it is implemented. `open` prepares an empty store and
 * returns a function that opens it repeatedly, as several workers do. At least one of them should have its own
 * connections.
 */
export function recordStoreConformance(open: () => Promise<() => RecordStore>): readonly ConformanceCheck[] {
  return [...RECORDS, ...LISTINGS].map(({ name, run }) => ({
    name,
    run: async () => {
      const opener = await open();
      const stores = [opener(), opener()] as const;
      // Both calls may return the same store.
      const close = () => Promise.all([...new Set(stores)].map(async (store) => store.close?.()));
      try {
        await run(...stores, opener);
      } catch (error) {
        // The store's author needs to see the first error.
        await close().catch(() => undefined);
        throw error;
      }
      await close();
    },
  }));
}

/** Where the records of one creation key are stored. */
const KEY = `keys/aa/${'a'.repeat(64)}/`;

const sorted = (map: ReadonlyMap<string, string>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
