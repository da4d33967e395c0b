import fc from 'fast-check';
import { parseOwnJson, repeatedNames } from '../../src/domain/json';

describe('JSON without fields of its prototype', () => {
  it('is what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('__proto__'));
        expect(parseOwnJson(text)).toEqual(JSON.parse(text));
        expect(parseOwnJson(`["\\u0061",${text}]`)).toEqual(['a', JSON.parse(text)]);
      }),
    );
  });

  it.each(['{"a":{"__proto__":{"b":1},"c":2}}', '{"a":{"__pr\\u006fto__":[],"c":2}}'])(
    '%s loses the field, or is refused',
    (text) => {
      const { a } = parseOwnJson(text) as { a: object };
      expect([Object.keys(a), Object.getPrototypeOf(a)]).toEqual([['c'], Object.prototype]);
      const refuse = () => {
        throw new RangeError('refused');
      };
      expect(() => parseOwnJson(text, refuse)).toThrow(RangeError);
    },
  );

  it('a text that names it keeps it', () => {
    const refuse = () => {
      throw new RangeError('refused');
    };
    expect(parseOwnJson('{"a":"__proto__"}', refuse)).toEqual({ a: '__proto__' });
  });
});

describe('names that an object has twice', () => {
  it.each<[string, readonly (readonly string[])[]]>([
    ['{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', []],
    ['{"a":1,"a":1}', [['a']]],
    ['{"a":1,"\\u0061" : 1,"a"\n:2}', [['a'], ['a']]],
    ['{"x":{"y":[{"z":1},{"z":1,"z":2}]},"q":1,"q":2}', [['x', 'y', 'z'], ['q']]],
    ['{"a":"{\\"b\\":1,\\"b\\":2} \\\\","c":["a","a"]}', []],
    ['{"a":"\\\\","a":"}"}', [['a']]],
    ['[{"a":1},{"a":1}]', []],
    ['"a"', []],
  ])('in %s', (text, expected) => {
    expect(JSON.parse(text)).toBeDefined();
    expect([...repeatedNames(text)]).toEqual(expected);
  });

  it('are none in what JSON.stringify gives', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect([...repeatedNames(JSON.stringify(value))]).toEqual([]);
      }),
    );
  });
});
