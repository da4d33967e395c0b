import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type MediaClient } from '../../src/service/media-client';
import { createRedactor } from '../../src/service/redact';
import { readTaskError } from '../../src/service/task-error';
import { sniffMedia } from '../../src/stores/artifacts/media-type';
import { notVideo } from '../../src/stores/artifacts/video-check';
import { missingExpectation, readWireFixture, type WireFixture } from '../support/wire-fixture';
import { clientOf, jsonBody, send } from './client-under-test';
import { loopback } from './loopback-service';
import { readRecord } from './read-record';

type OverHttp = Extract<WireFixture, { kind: 'create' | 'image' | 'content' }>;

const FOLDER = join(__dirname, '../fixtures/wire');
const redactor = createRedactor([]);

/** Reads every file once; one that is no fixture fails in a test of its own. */
const fixtures = readdirSync(FOLDER)
  .sort()
  .map((name) => {
    try {
      return readWireFixture(name, readFileSync(join(FOLDER, name), 'utf8'));
    } catch (error) {
      return { name, error: error as Error };
    }
  });
const of = (...kinds: readonly WireFixture['kind'][]) =>
  fixtures.filter((one): one is WireFixture => 'kind' in one && kinds.includes(one.kind));

function check(fixture: WireFixture, actual: unknown): void {
  if (fixture.expected === undefined) throw missingExpectation(fixture.name, actual);
  expect(actual).toEqual(fixture.expected);
}

/** A real answer over HTTP, read by the real client. */
async function answered(fixture: OverHttp, ask: (client: MediaClient) => Promise<unknown>): Promise<unknown> {
  const body =
    'bodyHex' in fixture && fixture.bodyHex !== undefined
      ? Buffer.from(fixture.bodyHex, 'hex')
      : typeof fixture.body === 'string'
        ? fixture.body
        : JSON.stringify(fixture.body ?? '');
  const service = await loopback((_request, response) => {
    response.sendDate = false;
    response.writeHead(fixture.httpStatus ?? 200, fixture.headers ?? {}).end(body);
  });
  const client = clientOf(service.origin);
  try {
    const text = JSON.stringify(await ask(client), base64Texts);
    return JSON.parse(text.replaceAll(service.origin, 'https://api.example'));
  } finally {
    await client.close();
    await service.close();
  }
}

/** Bytes as a reader of a fixture knows them. */
function base64Texts(this: unknown, name: string, value: unknown): unknown {
  const raw = (this as Readonly<Record<string, unknown>>)[name];
  return Buffer.isBuffer(raw) ? raw.toString('base64') : value;
}

/** What a content answer comes to, with the verdict on its bytes in place of the bytes. */
async function contentAnswer(client: MediaClient): Promise<unknown> {
  const result = await client.fetchContent({ url: client.contentUrl('t1') });
  if (result.kind !== 'body') return result;
  const { body, contentType, contentLength, etag } = result;
  const bytes = await buffer(body);
  const media = sniffMedia(bytes);
  const verdict = media?.kind === 'video' ? media.mediaType : notVideo(bytes);
  return { kind: 'body', contentType, contentLength, etag, verdict };
}

describe('shapes that services really send', () => {
  const broken = fixtures.flatMap((one) => ('error' in one ? [one] : []));
  if (broken.length > 0)
    it.each(broken)('$name is a fixture', ({ error }) => {
      throw error;
    });

  it.each(of('record'))('[C2.2.7] [C9.2] $name: $why', (fixture) => {
    const { body = null } = fixture;
    // null stands for: this is no record.
    check(fixture, readRecord(body) ?? null);
  });

  it.each(of('error'))('[C7.13] $name: $why', (fixture) => {
    check(fixture, readTaskError(fixture.body, redactor, fixture.httpStatus));
  });

  it.each(of('create') as OverHttp[])('$name: $why', async (fixture) => {
    check(fixture, await answered(fixture, (client) => client.createVideo(jsonBody(), send())));
  });

  it.each(of('image') as OverHttp[])('$name: $why', async (fixture) => {
    check(fixture, await answered(fixture, (client) => client.generateImage(jsonBody(), send())));
  });

  it.each(of('content') as OverHttp[])('$name: $why', async (fixture) => {
    check(fixture, await answered(fixture, contentAnswer));
  });

  it('every kind has fixtures', () => {
    for (const kind of ['record', 'error', 'create', 'image', 'content'] as const)
      expect([kind, of(kind).length > 2]).toEqual([kind, true]);
  });
});
