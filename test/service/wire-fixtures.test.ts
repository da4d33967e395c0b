import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonValue } from '../../src/domain/json';
import { createRedactor } from '../../src/service/redact';
import { readTaskError } from '../../src/service/task-error';
import { readVideoRecord } from '../../src/service/video-record';

interface WireFixture {
  readonly why: string;
  readonly kind: 'record' | 'error';
  readonly httpStatus?: number;
  readonly body: JsonValue;
  readonly expected: unknown;
}

const FOLDER = join(__dirname, '../fixtures/wire');
const redactor = createRedactor([]);
const fixtures = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((name) => ({ name, ...(JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as WireFixture) }));

describe('shapes that services really send', () => {
  it.each(fixtures.filter(({ kind }) => kind === 'record'))('[C2.2.7] [C9.2] $name: $why', (fixture) => {
    const reading = readVideoRecord(fixture.body, { baseUrl: 'https://api.example/base', redactor });
    expect(reading).toEqual(fixture.expected);
  });

  it.each(fixtures.filter(({ kind }) => kind === 'error'))('[C7.13] $name: $why', (fixture) => {
    expect(readTaskError(fixture.body, redactor, fixture.httpStatus)).toEqual(fixture.expected);
  });
});
