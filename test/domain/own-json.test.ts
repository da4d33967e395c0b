import fc from 'fast-check';
import { parseOwnJson } from '../../src/domain/json';

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
