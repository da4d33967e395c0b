import { readFile } from 'node:fs/promises';
import { fetch, request } from 'undici';
import { isBug, otherwise, throwBug } from '../../src/domain/bug';

const thrownBy = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};
const nothing = undefined as unknown as { readonly inner: { readonly text: string } };

describe('a mistake', () => {
  it.each<[string, () => unknown]>([
    ['a property of undefined', () => nothing.inner.text],
    ['a function that is none', () => (nothing as unknown as () => void)()],
    ['a name that nobody has', () => Promise.reject(new ReferenceError('notThere is not defined'))],
    [
      'one inside of another error',
      () => Promise.reject(new Error('a wrapper', { cause: new TypeError('inner') })),
    ],
  ])('is %s', async (_what, work) => {
    const error = await thrownBy(work);
    expect(isBug(error)).toBe(true);
    expect(await thrownBy(() => throwBug(error))).toBe(error);
    expect(await thrownBy(() => otherwise(1)(error))).toBe(error);
  });

  it.each<[string, () => unknown]>([
    ['an address that cannot be read', () => new URL('no address')],
    ['JSON that cannot be read', () => JSON.parse('{') as unknown],
    ['an argument that Node refuses', () => Buffer.from(undefined as never)],
    ['a file that is not there', () => readFile('/not/there')],
    ['a service that does not answer', () => request('http://127.0.0.1:9/')],
    ['a network that fetch reports', () => fetch('http://127.0.0.1:1/')],
    ['a path that cannot be decoded', () => decodeURIComponent('%')],
    [
      'an error that is its own cause',
      () => {
        const error = new Error('a circle');
        error.cause = error;
        throw error;
      },
    ],
  ])('is not %s', async (_what, work) => {
    const error = await thrownBy(work);
    expect(isBug(error)).toBe(false);
    expect(otherwise('instead')(error)).toBe('instead');
  });
});
