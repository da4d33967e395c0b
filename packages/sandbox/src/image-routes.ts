import { randomBytes } from 'node:crypto';
import { type FastifyInstance } from 'fastify';
import { answerPaidCall, answerReadCall, wait } from './answer-call';
import { apiRoute, type Exchange, idempotencyKeyOf, readPartsOrRefuse } from './exchange';
import { type JsonObject, fieldText } from './json-value';
import { type ImageSpec } from './media-spec';
import { type GeneratedFile } from './media-store';
import { behaviourOf } from './models';
import { dialectOf } from './options';
import { readDirectives } from './prompt-directives';
import { errorReply, jsonReply, rangedReply, type SandboxReply } from './reply';
import { type SandboxCore } from './sandbox-core';
import { requestValidators } from './validators-by-mode';

/** Adds the routes that generate and edit images and serve the results (contract 2.3 to 2.5 and 4). */
export function addImageRoutes(app: FastifyInstance, core: SandboxCore): void {
  apiRoute(
    app,
    core,
    { method: 'POST', url: '/v1/images/generations', operation: 'generate' },
    generateImages,
  );
  apiRoute(app, core, { method: 'POST', url: '/v1/images/edits', operation: 'edit' }, editImages);
  apiRoute(app, core, { method: 'GET', url: '/generated/:id', operation: 'generated' }, readGenerated);
}

async function generateImages(exchange: Exchange): Promise<void> {
  const body = exchange.json();
  const call = { ...body, inputs: [] };
  await answerPaidCall(exchange, {
    operation: 'generate',
    model: fieldText(body?.model),
    prompt: fieldText(body?.prompt),
    violations: requestValidators[exchange.core.options.mode].generation(exchange, body),
    accept: () => acceptImages(exchange, 'generate', call),
  });
}

async function editImages(exchange: Exchange): Promise<void> {
  const parts = await readPartsOrRefuse(exchange);
  if (parts === 'unreadable') return;
  const fields = Object.fromEntries(
    (parts ?? []).filter((part) => part.kind === 'field').map((part) => [part.name, part.value]),
  );
  const inputs = (parts ?? []).filter((part) => part.kind === 'file').map((part) => part.sha256);
  await answerPaidCall(exchange, {
    operation: 'edit',
    model: fieldText(fields.model),
    prompt: fieldText(fields.prompt),
    violations: requestValidators[exchange.core.options.mode].edit(exchange, parts),
    accept: () => acceptImages(exchange, 'edit', { ...fields, inputs }),
  });
}

interface ImageCall {
  model?: unknown;
  prompt?: unknown;
  size?: unknown;
  quality?: unknown;
  n?: unknown;
  response_format?: unknown;
  inputs: string[];
}

/** Accepts the call immediately. Resolves to the reply after the model's running time. */
async function acceptImages(
  exchange: Exchange,
  operation: 'generate' | 'edit',
  call: ImageCall,
): Promise<SandboxReply> {
  const { core } = exchange;
  const [model, prompt] = [fieldText(call.model), fieldText(call.prompt)];
  const effects = readDirectives(prompt);
  const form = effects.resultForm ?? (call.response_format === 'b64_json' ? 'b64_json' : 'url');
  const results = effects.resultCount ?? Number(call.n ?? 1);
  const specs = Array.from({ length: results }, (_, index): ImageSpec => {
    return { kind: 'image', model, prompt, ...sizeOf(call.size, model), index, inputs: call.inputs };
  });
  const createdAt = Date.now();
  const files =
    form === 'url' ? specs.map((spec): GeneratedFile => ({ name: fileName(), spec, createdAt })) : [];
  const idempotencyKey = idempotencyKeyOf(exchange.request);
  const asked = { size: fieldText(call.size), quality: fieldText(call.quality) };
  core.acceptImages({ operation, model, prompt, results, files, createdAt, ...asked, ...idempotencyKey });
  exchange.entry.accepted = true;
  for (const spec of specs) core.media.warm(spec);
  const usual = core.options.timing.runningMs ?? behaviourOf(model).runningMs;
  await wait(effects.runningMs ?? usual);
  const items =
    form === 'url'
      ? files.map((file) => ({ url: `${core.url}/generated/${file.name}` }))
      : await Promise.all(specs.map(async (spec) => ({ b64_json: await base64(core, spec) })));
  const compat = core.options.mode === 'compat';
  const data = compat ? items.map((item) => compatItem(item, core, model)) : items;
  const usage =
    core.options.records === 'full' ? { usage: compat ? tokens(results) : { images: results } } : {};
  return jsonReply(200, { created: Math.floor(createdAt / 1000), data, ...usage });
}

/** Dialects with flat errors write every key, with null for a missing value, and leave the origin out of addresses. */
function compatItem(item: { url?: string; b64_json?: string }, core: SandboxCore, model: string): JsonObject {
  if (dialectOf(model).errors !== 'flat') return item;
  const url = item.url === undefined ? null : item.url.replace(new URL(core.url).origin, '');
  return { b64_json: null, revised_prompt: null, ...item, url };
}

/** Usage as the published images API writes it. */
function tokens(results: number): JsonObject {
  return { input_tokens: 12, output_tokens: 1_000 * results, total_tokens: 12 + 1_000 * results };
}

async function readGenerated(exchange: Exchange, name: string): Promise<void> {
  const { core } = exchange;
  const file = core.generated.get(name);
  await answerReadCall(exchange, {
    model: file?.spec.model,
    prompt: file?.spec.prompt,
    mediaType: 'image/png',
    reply: async () => {
      if (file === undefined) return errorReply(404, 'No such file.', { code: 'not_found' });
      if (Date.now() > file.createdAt + core.options.linkTtlMs) {
        return errorReply(404, 'The file has expired.', { code: 'expired' });
      }
      return rangedReply(await core.media.get(file.spec), 'image/png', exchange.request.headers);
    },
  });
}

async function base64(core: SandboxCore, spec: ImageSpec): Promise<string> {
  return (await core.media.get(spec)).bytes.toString('base64');
}

function fileName(): string {
  return `${randomBytes(12).toString('hex')}.png`;
}

/** Returns the requested size, or else the model's default. */
function sizeOf(size: unknown, model: string): { width: number; height: number } {
  const match = /^(\d+)x(\d+)$/.exec(fieldText(size));
  if (match !== null) return { width: Number(match[1]), height: Number(match[2]) };
  return model === 'image-2 4K' ? { width: 3840, height: 2160 } : { width: 1024, height: 1024 };
}
