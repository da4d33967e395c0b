import fc from 'fast-check';
import { type JsonValue } from '../../src/domain/json';
import { findRecord } from '../../src/service/read-replies';
import { clientOf } from './client-under-test';
import { json, loopback } from './loopback-service';
import { readRecord } from './read-record';

const failed = {
  id: 'video_upstream',
  object: 'video',
  status: 'failed',
  error: { code: 'moderation_blocked', message: 'Guardrail blocked the prompt' },
};
const wrapped = (message: string, status = 500) => ({ error: { message, type: 'api_error', code: status } });

async function poll(status: number, body: unknown) {
  const service = await loopback((_request, response) => {
    if (typeof body === 'string') response.writeHead(status).end(body);
    else json(response, status, body);
  });
  const client = clientOf(service.origin);
  const result = await client.getVideo('task-1');
  await client.close();
  await service.close();
  return result;
}

describe('a record that a gateway has wrapped', () => {
  const text = JSON.stringify(failed);
  it.each<[string, number, unknown]>([
    ['as text in the message of a 500', 500, wrapped(text)],
    ['as text in the message of a 400', 400, wrapped(text, 400)],
    [
      'as text behind words of the gateway',
      500,
      wrapped(`UpstreamError: status 500. Body: ${text} (try later)`),
    ],
    ['as text in a text', 500, wrapped(JSON.stringify({ error: { message: text } }))],
    ['as an object in the error of a 404', 404, { error: { details: [{ upstream: failed }] } }],
    ['as a text alone in a 502', 502, `upstream said ${text}`],
    ['below the result of a 200', 200, { code: 0, result: { video: failed } }],
    ['beside a status word of the gateway', 200, { status: 'ok', result: failed }],
    ['as JSON in JSON of a 200', 200, JSON.stringify(text)],
  ])('[C7.13] [C7.7] is read %s', async (_words, status, body) => {
    expect(await poll(status, body)).toMatchObject({
      kind: 'record',
      httpStatus: status,
      record: {
        status: 'failed',
        phase: 'failed',
        error: { kind: 'moderation', code: 'moderation_blocked', message: 'Guardrail blocked the prompt' },
      },
    });
  });

  it.each<[string, unknown]>([
    ['an error body', { error: { message: '{"status":"error","message":"the database is down"}' } }],
    ['one with the id of its request', { id: 'req_1', status: 'error', message: 'the database is down' }],
    ['one that names the task', { error: { id: 'task-1', status: 'error', message: 'no connection' } }],
    ['one that only says failed', { error: { message: '{"status":"failed","message":"lookup failed"}' } }],
    ['a list of others', { error: { data: [failed, { ...failed, id: 'video_2' }] } }],
    [
      'another video that is done',
      { error: { message: JSON.stringify({ ...failed, status: 'completed' }) } },
    ],
    ['a text of braces', { error: { message: '{'.repeat(10_000) + '}'.repeat(10_000) } }],
  ])('[C7.2] %s is none', async (_words, body) => {
    expect(await poll(500, body)).toMatchObject({ kind: 'error', error: 'unavailable', httpStatus: 500 });
  });

  const attempt = { ...failed, id: 'attempt-1', object: 'video.attempt' };
  it.each<[string, object]>([
    ['of an attempt that failed', { id: 'task-1', object: 'video', status: 'retrying', attempts: [attempt] }],
    ['without its id', { object: 'video', status: 'retrying', attempts: [attempt] }],
    ['without a status', { id: 'task-1', attempts: [attempt] }],
    ['below the result', { result: { id: 'task-1', status: 'rendering', last: JSON.stringify(attempt) } }],
  ])('[C2.2.2] the record of this task %s is not failed because something in it is', async (_words, body) => {
    const seen = await poll(200, body);
    expect(seen).not.toMatchObject({ record: { phase: 'failed' } });
  });

  it('[C3.2] is taken for completed only where it names the task', () => {
    const done = { id: 'task-1', object: 'video', status: 'completed', url: '/v1/videos/task-1/content' };
    const body = wrapped(JSON.stringify(done));
    expect(readRecord(body, { taskId: 'task-1' })?.record.phase).toBe('completed');
    expect(findRecord(body, { taskId: 'task-2' })).toBeUndefined();
    // Its own record is found among others.
    expect(findRecord([failed, { ...failed, id: 'video_2' }, done], { taskId: 'task-1' })).toEqual(done);
  });

  it('whatever is sent is read within bounds, and never taken for another', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 12 }), fc.nat(3), (value, texts) => {
        let body = value as JsonValue;
        for (let count = 0; count < texts; count++) body = { message: JSON.stringify(body) };
        const found = findRecord(body, { taskId: 'task-1', isError: true });
        if (found !== undefined) expect(typeof found['status']).toBe('string');
        findRecord(body, {});
      }),
    );
  });
});
