import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ImageEditRequest } from '../../src/domain/request';
import { wireEditBody } from '../../src/service/request-bodies';
import { type WireFile, type WireMultipartBody } from '../../src/service/wire-body';
import { clientOf, jsonBody, KEY, send } from './client-under-test';
import { json, loopback, rawLoopback, type SeenRequest } from './loopback-service';

interface Part {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly type: string | undefined;
  readonly data: Buffer;
}

function partsOf(request: SeenRequest | undefined): Part[] {
  const boundary = /boundary=(?:"([^"]+)"|([^;]+))/.exec(request?.headers['content-type'] ?? '');
  const text = request?.body.toString('latin1') ?? '';
  return text
    .split(`--${boundary?.[1] ?? boundary?.[2]}`)
    .slice(1, -1)
    .map((raw) => {
      const split = raw.indexOf('\r\n\r\n');
      const head = raw.slice(0, split);
      return {
        name: /name="([^"]*)"/.exec(head)?.[1] ?? '',
        fileName: /filename="([^"]*)"/.exec(head)?.[1],
        type: /content-type: (.*)/i.exec(head)?.[1],
        data: Buffer.from(raw.slice(split + 4, -2), 'latin1'),
      };
    });
}

function fileOf(source: WireFile['source'], data: Uint8Array, mediaType = 'image/png'): WireFile {
  return {
    source,
    mediaType,
    bytes: data.length,
    sha256: createHash('sha256').update(data).digest('hex'),
  };
}

function editBody(
  request: Partial<ImageEditRequest>,
  images: WireFile[],
  mask?: WireFile,
): WireMultipartBody {
  const built = wireEditBody(
    { model: 'image-2', prompt: 'make it blue', images: [], ...request },
    images,
    mask,
  );
  if (!built.ok) throw new Error(JSON.stringify(built.issues));
  return built.body;
}

const PIXEL = Buffer.from('89504e470d0a1a0a', 'hex');

describe('image calls', () => {
  it('[C2.4.1] [C2.4.3] [C4.5] an edit sends text parts first, then its files in order, then the mask', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edit-'));
    const first = randomBytes(300_000);
    const path = join(folder, 'secret name of a user.png');
    await writeFile(path, first);
    const service = await loopback((_request, response) => json(response, 200, { created: 1, data: [] }));
    const body = editBody(
      { size: '1024x1024', n: 2, prompt: 'ü\r\n--x' },
      [fileOf({ path }, first), fileOf({ data: PIXEL }, PIXEL, 'image/webp')],
      fileOf({ data: PIXEL }, PIXEL),
    );
    const result = await clientOf(service.origin).editImage(body, send());
    expect(result).toMatchObject({ class: 'accepted', created: 1, items: [] });
    const [request] = service.seen;
    expect(request?.url).toBe('/v1/images/edits');
    expect(request?.headers['content-type']).toMatch(/^multipart\/form-data/);
    expect(request?.headers['content-length']).toBe(String(request?.body.length));
    const parts = partsOf(request);
    expect(parts.map(({ name, fileName, type }) => [name, fileName, type])).toEqual([
      ['model', undefined, undefined],
      ['prompt', undefined, undefined],
      ['size', undefined, undefined],
      ['n', undefined, undefined],
      ['image[]', 'image-1.png', 'image/png'],
      ['image[]', 'image-2.webp', 'image/webp'],
      ['mask', 'mask.png', 'image/png'],
    ]);
    expect(parts[0]?.data.toString()).toBe('image-2');
    expect(parts[1]?.data.toString()).toBe('ü\r\n--x');
    expect(parts[4]?.data.equals(first)).toBe(true);
    expect(request?.body.includes('secret name')).toBe(false);
    await service.close();
    await rm(folder, { recursive: true });
  });

  it('[C2.4.2] a single file goes as one image part', async () => {
    const service = await loopback((_request, response) => json(response, 200, { data: [] }));
    await clientOf(service.origin).editImage(editBody({}, [fileOf({ data: PIXEL }, PIXEL)]), send());
    expect(partsOf(service.seen[0]).map(({ name }) => name)).toEqual(['model', 'prompt', 'image']);
    await service.close();
  });

  it('a file that is gone sends nothing', async () => {
    const service = await loopback((_request, response) => json(response, 200, { data: [] }));
    const gone = fileOf({ path: join(tmpdir(), 'never-there.png') }, PIXEL);
    const result = await clientOf(service.origin).editImage(editBody({}, [gone]), send());
    expect(result).toMatchObject({ class: 'not_sent', cause: 'file_unreadable' });
    expect(JSON.stringify(result)).not.toContain('never-there');
    expect(service.seen).toHaveLength(0);
    await service.close();
  });

  it('[C4.9] [C2.5.1] [C2.5.2] [C2.5.4] a generation gives its items in order, of both kinds', async () => {
    const service = await loopback((_request, response) => {
      json(response, 200, {
        created: 1713833628,
        data: [
          { b64_json: PIXEL.toString('base64') },
          { url: '/generated/a b.png' },
          { url: 'https://cdn.example/x?sig=1' },
          { b64_json: '%%%' },
          null,
          {},
          { b64_json: `data:image/png;base64,${PIXEL.toString('base64')}` },
        ],
        usage: { total_tokens: 3 },
      });
    });
    const base = `${service.origin}/prefix`;
    const result = await clientOf(base).generateImage(jsonBody(), send());
    expect(service.seen[0]).toMatchObject({ method: 'POST', url: '/prefix/v1/images/generations' });
    expect(service.seen[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(result).toMatchObject({
      class: 'accepted',
      created: 1713833628,
      usage: { total_tokens: 3 },
      items: [
        { kind: 'b64', data: PIXEL },
        { kind: 'unreadable', reason: 'invalid_url' },
        { kind: 'url', url: 'https://cdn.example/x?sig=1' },
        { kind: 'unreadable', reason: 'invalid_base64' },
        { kind: 'unreadable', reason: 'not_an_object' },
        { kind: 'unreadable', reason: 'neither_url_nor_base64' },
        { kind: 'b64', data: PIXEL },
      ],
    });
    await service.close();
  });

  it.each([{}, { data: null }, { data: {} }, { created: 1 }, [], 'x'])(
    '[C4.4a] row 37: a 200 without results (%j) is unconfirmed and sent once',
    async (body) => {
      const service = await loopback((_request, response) => json(response, 200, body));
      const result = await clientOf(service.origin).generateImage(jsonBody(), send());
      expect(result).toMatchObject({ class: 'unconfirmed', cause: 'reply_without_data', httpStatus: 200 });
      expect(service.seen).toHaveLength(1);
      await service.close();
    },
  );

  it('an image reply may be large', async () => {
    const image = randomBytes(6_000_000);
    const service = await loopback((_request, response) => {
      json(response, 200, { data: [{ b64_json: image.toString('base64') }] });
    });
    const result = await clientOf(service.origin).generateImage(jsonBody(), send());
    expect(
      result.class === 'accepted' && result.items[0]?.kind === 'b64' && result.items[0].data.equals(image),
    ).toBe(true);
    await service.close();
  });

  it('row 22: a reset in the middle of an upload is unconfirmed', async () => {
    const server = await rawLoopback((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const big = randomBytes(8_000_000);
    const result = await clientOf(server.origin).editImage(
      editBody({}, [fileOf({ data: big }, big)]),
      send(),
    );
    expect(result).toMatchObject({ class: 'unconfirmed' });
    expect(server.connections()).toBe(1);
    await server.close();
  });

  it('row 23: a 413 in the middle of an upload is a refusal', async () => {
    const server = await rawLoopback((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
      ),
    );
    const big = randomBytes(1_000_000);
    const result = await clientOf(server.origin).editImage(
      editBody({}, [fileOf({ data: big }, big)]),
      send(),
    );
    expect(result).toMatchObject({ class: 'rejected', reason: 'invalid_request', httpStatus: 413 });
    await server.close();
  });
});
