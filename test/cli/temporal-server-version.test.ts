import { lackingIn, lacksOfServer } from '../../src/worker/temporal-server-version';

describe('what a Temporal server lacks', () => {
  test.each([
    ['1.24.3', [/^Updates/, /^task queue priority/, /^pausing/, /^task queue fairness/]],
    ['v1.27.1', [/^task queue priority/, /^pausing/, /^task queue fairness/]],
    ['1.28.2', [/^pausing/, /^task queue fairness/]],
    ['1.29.1', []],
    ['1.32.2', []],
    // A development build, builds of Temporal Cloud, and servers that do not tell.
    ['0.0.0-DEV', []],
    ['1.31.0-150.2', []],
    ['cloud', []],
    ['', []],
    [null, []],
    [undefined, []],
  ] as const)('%s', (version, lacks) => {
    const found = lackingIn(version);
    expect(found).toHaveLength(lacks.length);
    for (const [place, words] of lacks.entries()) expect(found[place]).toMatch(words);
    expect(lacksOfServer(version) === undefined).toBe(lacks.length === 0);
  });

  test('one that is too old is told the version that is needed; one that lacks extras is not', () => {
    expect(lacksOfServer('1.24.3')).toContain('at least 1.25.0 is needed. It lacks: Updates');
    expect(lacksOfServer('1.28.2')).not.toContain('needed');
  });
});
