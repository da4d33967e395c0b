import { shownLocation } from '../../packages/cli/src/shared/text';

describe('[C5.4b] what is shown of an address holds no secret', () => {
  test.each([
    ['https://user:word@host/models.json?sig=abc#x', 'https://host/models.json'],
    ['https://us@er:wo@rd@host/a', 'https://host/a'],
    ['HTTPS://key@host', 'HTTPS://host'],
    ['https://host?token=abc\nsecret', 'https://host'],
    ['//user:word@host/a', '//host/a'],
    ['user:word@host/v1', 'host/v1'],
    ['host/models?sig=abc', 'host/models'],
    ['https://host/v1', 'https://host/v1'],
    ['/data/run#1/models.json', '/data/run#1/models.json'],
    ['postgres://app:Sup3r/Secret@db:5432/x', 'postgres://db:5432/x'],
    ['postgresql://app:pa#ss?wo@db/x?sslmode=require', 'postgres://db/x'],
    ['"postgres://app:pw@db/x"', 'postgres://db/x"'],
    ['postgres:/app:pw@db/x', 'postgres://db/x'],
    ['postgres://db/x?user=a@b&password=pw', 'postgres://b'],
    ['postgres://db/x', 'postgres://db/x'],
    ['/etc/media/models.json', '/etc/media/models.json'],
    ['models@2.json', 'models@2.json'],
  ])('%j', (text, shown) => {
    expect(shownLocation(text)).toBe(shown);
  });
});
