import { type SandboxMode } from '../options';
import { type JsonSchema, object } from './json-schema';

const text: JsonSchema = { type: 'string', minLength: 1 };
const textOrNull: JsonSchema = { type: ['string', 'null'] };

const nested = object(
  {
    error: object({ message: text, type: text, param: textOrNull, code: textOrNull }, [
      'message',
      'type',
      'param',
      'code',
    ]),
  },
  ['error'],
  { title: 'nested' },
);
const flat = object({ code: text, message: text, data: { type: 'null' } }, ['code', 'message', 'data'], {
  title: 'flat',
});
const entry = object({ loc: { type: 'array', items: { type: 'string' } }, msg: text, type: text }, [
  'loc',
  'msg',
  'type',
]);
const detail = object({ detail: { type: 'array', items: entry, minItems: 1 } }, ['detail'], {
  title: 'detail',
});

/** The body of an error reply; the contract defines none (section 7). */
export function errorSchema(mode: SandboxMode): JsonSchema {
  return mode === 'strict' ? nested : { oneOf: [nested, flat, detail] };
}
