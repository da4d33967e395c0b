import { createHash } from 'node:crypto';
import { openEnd, StoredNames } from '../../packages/cli/src/artifacts/prune';

const nameOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A name that is overlooked is a lost result. */
describe('names of stored artifacts', () => {
  const all = Array.from({ length: 3_000 }, (_, index) => nameOf(`artifact ${index}`)).sort();
  let names: StoredNames;
  beforeEach(() => {
    names = new StoredNames();
    for (const sha256 of all) names.add(sha256);
  });

  test('each is found, first and last too, once; others are ignored', () => {
    for (const sha256 of [all[0]!, all[1_024]!, all.at(-1)!]) {
      expect(names.isUnnamed(sha256)).toBe(true);
      expect(names.markIn(`artifact:sha256/${sha256} ${nameOf('elsewhere')}`)).toEqual([sha256]);
      expect(names.markIn(sha256)).toEqual([]);
      expect(names.isUnnamed(sha256)).toBe(false);
    }
    expect(all.filter((sha256) => !names.isUnnamed(sha256))).toHaveLength(3);
    expect(names.isUnnamed(nameOf('elsewhere'))).toBe(false);
    expect(new StoredNames().markIn(all[0]!)).toEqual([]);
  });

  test.each([
    ['in JSON', (name: string) => JSON.stringify({ sha256: name })],
    [
      'in JSON in JSON, after a control character',
      (name: string) => JSON.stringify(JSON.stringify(`\b${name}`)),
    ],
    ['after an escape of hexadecimal digits', (name: string) => `"\\u000a${name}\\u000a"`],
    ['without anything between two', (name: string) => `${all[7]}${name}${all[8]}`],
    ['in a word', (name: string) => `frame_${name}_of`],
  ])('one %s', (_, text) => {
    expect(names.markIn(text(all[500]!))).toContain(all[500]);
  });

  test('one across the pieces of a text', () => {
    const whole = `{"uri":"artifact:sha256/${all[42]}"}`;
    for (let at = 1; at < whole.length; at += 1) {
      const [first, second] = [whole.slice(0, at), whole.slice(at)];
      const fresh = new StoredNames();
      fresh.add(all[42]!);
      const found = [...fresh.markIn(first), ...fresh.markIn(openEnd(first) + second)];
      expect(found).toEqual([all[42]]);
    }
  });

  test('none in capital or too few digits', () => {
    expect(names.markIn(`${all[3]!.toUpperCase()} ${all[3]!.slice(1)}`)).toEqual([]);
  });
});
