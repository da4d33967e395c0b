import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

interface Reporter {
  onTestResult(test: undefined, result: { testFilePath: string; testResults: object[] }): void;
  onRunComplete(): void;
  getLastError(): Error | undefined;
}
const RulesReporter = jest.requireActual<new (config: object) => Reporter>('../support/rules-reporter.js');

describe('the reporter of rules', () => {
  let rootDir: string;
  const gaps = process.env['RULES_GAPS'];
  const told: string[] = [];

  beforeEach(async () => {
    rootDir = await mkdtemp(path.join(tmpdir(), 'rules-'));
    await mkdir(path.join(rootDir, 'docs'));
    await writeFile(
      path.join(rootDir, 'docs', 'contract-rules.md'),
      '| C1.1 | One. | 1 |\n| C1.2 | Two. | 1 |\n',
    );
    await writeFile(path.join(rootDir, 'a.test.ts'), '');
    delete process.env['RULES_GAPS'];
    told.length = 0;
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => told.push(String(text)) > 0);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    if (gaps !== undefined) process.env['RULES_GAPS'] = gaps;
    await rm(rootDir, { recursive: true });
  });

  function run(titles: readonly string[], config: object = {}): Reporter {
    const reporter = new RulesReporter({ rootDir, ...config });
    const testResults = titles.map((fullName) => ({ fullName, status: 'passed' }));
    reporter.onTestResult(undefined, { testFilePath: path.join(rootDir, 'a.test.ts'), testResults });
    reporter.onRunComplete();
    return reporter;
  }
  const recorded = async () =>
    JSON.parse(
      await readFile(path.join(rootDir, 'node_modules', '.cache', 'temporal-media', 'rules.json'), 'utf8'),
    ) as unknown;

  it('fails a full run that leaves a rule without proof, and names it', async () => {
    expect(run(['[C1.1] x']).getLastError()?.message).toBe('1 rules without proof');
    expect(told.join('')).toContain('C1.2: no test (Two.)');
    expect(await recorded()).toEqual({
      v: 1,
      files: { 'a.test.ts': [{ title: '[C1.1] x', status: 'passed' }] },
    });
  });

  it('passes a full run that proves them all', () => {
    expect(run(['[C1.1] x', '[C1.2] y']).getLastError()).toBeUndefined();
    expect(told).toEqual([]);
  });

  it('only tells when asked to', () => {
    process.env['RULES_GAPS'] = 'warn';
    expect(run([]).getLastError()).toBeUndefined();
    expect(told.join('')).toContain('C1.1');
  });

  it.each([
    { testPathPatterns: { patterns: ['a.test.ts'] } },
    { testNamePattern: 'x' },
    { nonFlagArgs: ['a'] },
    { onlyChanged: true },
    { filter: 'some-filter.js' },
    { shard: { shardIndex: 1, shardCount: 2 } },
  ])('a run of some tests only records: %j', async (config) => {
    expect(run(['[C1.1] x'], config).getLastError()).toBeUndefined();
    expect(told).toEqual([]);
    expect(await recorded()).toMatchObject({ files: { 'a.test.ts': [{ status: 'passed' }] } });
  });
});
