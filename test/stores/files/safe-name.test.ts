import { safeName } from '../../../packages/report/src/report-folder';

describe('safeName', () => {
  test.each(['shot-1', 'video_6a42b242442b05f4d5c15381', 'a.b'])('%s stays as it is', (id) => {
    expect(safeName(id)).toBe(id);
  });

  test.each(['../../etc/passwd', '.', '..', '-rf', 'task:1', 'a b', 'con', 'x'.repeat(300), 'ü', ''])(
    'the id %j becomes a plain file name',
    (id) => {
      expect(safeName(id)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/);
      expect(safeName(id)).not.toBe(id);
    },
  );

  test('two ids never share a name', () => {
    expect(safeName('a/b')).not.toBe(safeName('a:b'));
  });
});
