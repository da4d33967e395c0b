import fc from 'fast-check';
import { unknownKey } from '../../src/domain/known-keys';
import { GENERATE_VIDEO_KEYS } from '../../src/domain/workflow-inputs';
import { validateRequest } from '../../src/domain/validate-request';

describe('known keys', () => {
  it.each<[given: object, field: string, near: string]>([
    [{ creation_key: 'k' }, 'creation_key', 'Did you mean creationKey?'],
    [{ 'creation\u200bKey': 'k' }, 'creation?Key', 'cannot be seen: U+200B at character 9.'],
    [{ policy: { on_429: 'fail' } }, 'policy.on_429', 'Did you mean on429?'],
    [{ queues: { uploads: 'q' } }, 'queues.uploads', 'Known are create, poll, download, image.'],
    [{ constructor: 1 }, 'constructor', 'Known are'],
    [JSON.parse('{"__proto__": 1}') as object, '__proto__', 'Known are'],
  ])('%j: names %s', (given, field, near) => {
    expect(unknownKey(given, GENERATE_VIDEO_KEYS)).toMatchObject({
      field,
      message: expect.stringContaining(near) as string,
    });
  });

  it('says nothing of what is known, of what is not given, and of what is validated elsewhere', () => {
    const given = {
      request: { anything: 1 },
      carried: { v: 1 },
      creation_key: undefined,
      policy: null,
      queues: [],
    };
    expect(unknownKey(given, GENERATE_VIDEO_KEYS)).toBeUndefined();
  });

  it('never throws, and shows names of others short and on one line', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string({ maxLength: 300, unit: 'binary' }), (value, name) => {
        unknownKey(value, GENERATE_VIDEO_KEYS);
        const issue = unknownKey({ [name]: 1 }, {});
        expect(issue?.field).toMatch(/^[\w.$@[\]?-]{0,60}$/);
      }),
    );
  });

  it('a request with two mistakes names the key first: what is missing may be there under it', () => {
    const request = { modell: 'cine-1', prompt: 'a kite' } as never;
    expect(validateRequest({ operation: 'create_video', request })[0]).toMatchObject({
      field: 'request.modell',
      message: expect.stringContaining('Did you mean model?') as string,
    });
  });
});
