import { createHash } from 'node:crypto';
import {
  type JsonValue,
  type ModelEntry,
  type VideoModel,
  type ArtifactRef,
  type ImageEditRequest,
  type MediaSource,
  type PaidRequest,
  type VideoReference,
  type VideoRequest,
  type ValidationIssue,
} from 'temporal-media';
import { resolveCreatePolicy } from 'temporal-media/internal/domain/create-policy';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { artifactUri, isDataUrl } from 'temporal-media/internal/domain/request';
import { apiHeaders, apiUrl, normaliseBaseUrl } from 'temporal-media/internal/service/endpoint';
import { readDataUrl } from 'temporal-media/internal/service/read-data-url';
import {
  type ResolvedReference,
  wireEditBody,
  wireGenerationBody,
  wireVideoBody,
} from 'temporal-media/internal/service/request-bodies';
import {
  type WireBuild,
  type WireFile,
  type WireJsonBody,
  type WireMultipartBody,
} from 'temporal-media/internal/service/wire-body';
import { configOfAccount } from 'temporal-media/internal/settings/accounts';
import { SNIFF_BYTES, sniffMedia } from 'temporal-media/internal/stores/artifacts/media-type';
import { type ArtifactStore } from 'temporal-media/stores';
import { type MediaConfig } from 'temporal-media/worker';
import { type CommandContext } from './context';
import { refuseIssues } from './invalid-request';
import { type CallPlace, devInUse, validateCall, type ValidatedCall } from './models-in-force';
import { shownLocation } from './text';

/** A request as it would be sent, without the key and the media bytes. */
interface ShownRequest {
  readonly method: 'POST';
  /** The service's scheme, host and prefix. Null if only the worker knows them. */
  readonly baseUrl: string | null;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  /** JSON body of a video create or an image generation. */
  readonly body?: JsonValue;
  /** Parts of an image edit, or of a create that is sent as a form, in wire order. */
  readonly parts?: readonly ShownPart[];
}

type ShownPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly mediaType: string; readonly file: string };

const SEGMENTS = {
  create_video: ['videos'],
  generate_image: ['images', 'generations'],
  edit_image: ['images', 'edits'],
} as const;

/** Placeholder for an unknown base URL. Only the resulting path is used. */
const UNKNOWN_BASE = 'http://unknown.invalid';

/** Builds the request with the worker's builders. @throws CliError when a body cannot be built */
async function shownRequest(
  paid: PaidRequest,
  entry: ModelEntry | undefined,
  { baseUrl, policy }: Pick<MediaConfig, 'baseUrl' | 'policy'>,
): Promise<ShownRequest> {
  const base = baseUrl === undefined ? null : normaliseBaseUrl(baseUrl);
  const vouched = entry?.idempotency === undefined ? {} : { idempotency: entry.idempotency };
  const { idempotency } = resolveCreatePolicy(policy, vouched);
  const multipart =
    paid.operation === 'edit_image' || (entry?.kind === 'video' && entry.createForm === 'multipart');
  return {
    method: 'POST',
    baseUrl: base,
    path: apiUrl(base ?? UNKNOWN_BASE, ...SEGMENTS[paid.operation]).pathname,
    headers: {
      ...apiHeaders({ userAgent: 'temporal-media' }, { authorization: 'Bearer <key>' }),
      accept: 'application/json',
      'content-type': multipart ? 'multipart/form-data; boundary=<chosen when sent>' : 'application/json',
      ...(idempotency === 'off' ? {} : { [idempotency.header.toLowerCase()]: '<digest of the id>' }),
    },
    ...(await content(paid, entry)),
  };
}

async function content(
  paid: PaidRequest,
  entry: ModelEntry | undefined,
): Promise<Pick<ShownRequest, 'body' | 'parts'>> {
  const placeholders = new Placeholders();
  if (paid.operation === 'edit_image') {
    const { parts } = built(editBody(paid.request), paid);
    return { parts: parts.map(shownPart(placeholders)) };
  }
  const wire =
    paid.operation === 'generate_image'
      ? wireGenerationBody(paid.request)
      : await videoBody(paid.request, entry as VideoModel | undefined, placeholders);
  const body = built<WireJsonBody | WireMultipartBody>(wire, paid);
  if (body.kind === 'multipart') return { parts: body.parts.map(shownPart(placeholders)) };
  const { model, prompt, ...rest } = body.json;
  // Model and prompt are shown unchanged, even if they look like a URL.
  return { body: { model: model ?? null, prompt: prompt ?? null, ...(placeholders.show(rest) as object) } };
}

/** Builds a video's body. If the model takes bytes, a URL is shown as bytes, because the worker fetches it first. */
function videoBody(
  request: VideoRequest,
  model: VideoModel | undefined,
  placeholders: Placeholders,
): Promise<WireBuild<WireJsonBody | WireMultipartBody>> {
  const references = (request.references ?? []).map((reference): ResolvedReference => {
    const { kind, source, field } = reference;
    const named = field === undefined ? {} : { field };
    const form = formOf(reference, model);
    if ('artifact' in source && form === 'url')
      return { kind, ...named, source: { kind: 'url', url: `<signed URL of ${source.artifact.uri}>` } };
    const takesBytes = form !== undefined && form !== 'url';
    const file = 'url' in source && !takesBytes ? undefined : placeholders.of(source);
    return file === undefined
      ? { kind, ...named, source: { kind: 'url', url: 'url' in source ? source.url : '' } }
      : { kind, ...named, source: { kind: 'file', file } };
  });
  return wireVideoBody(request, model, references);
}

/** Returns the form that the model requires for this reference, such as `url` or `base64`. */
function formOf({ kind, field }: VideoReference, model: VideoModel | undefined) {
  return model?.references?.find(
    (candidate) => candidate.kind === kind && (field === undefined || candidate.field === field),
  )?.form;
}

function editBody(request: ImageEditRequest): WireBuild<WireMultipartBody> {
  const sources = [...request.images, ...(request.mask === undefined ? [] : [request.mask])];
  const files = sources.map((source) => ('artifact' in source ? source.artifact : undefined));
  const issues = files.flatMap((file, index): ValidationIssue[] =>
    file === undefined
      ? [
          {
            field: index < request.images.length ? `images[${index}]` : 'mask',
            message: 'An edit requires a file, not a URL.',
          },
        ]
      : [],
  );
  if (issues.length > 0) return { ok: false, issues };
  const wire = files.flatMap((file) =>
    file === undefined
      ? []
      : [
          {
            source: { data: Buffer.alloc(0) },
            mediaType: file.mediaType,
            sha256: file.sha256,
            bytes: file.bytes,
          },
        ],
  );
  return wireEditBody(request, wire.slice(0, request.images.length), wire[request.images.length]);
}

const shownPart =
  (placeholders: Placeholders) =>
  (part: WireMultipartBody['parts'][number]): ShownPart => {
    const { name } = part;
    if (part.kind === 'text')
      return { name, value: name === 'prompt' ? part.value : placeholders.showText(part.value) };
    const { mediaType } = part.file;
    return { name, fileName: part.fileName, mediaType, file: bytesText(part.file) };
  };

function built<Body>(wire: WireBuild<Body>, paid: PaidRequest): Body {
  if (!wire.ok) refuseIssues(wire.issues, paid);
  return (wire as Extract<WireBuild<Body>, { ok: true }>).body;
}

/** A call that passed every check that this machine can make. */
export interface CheckedCall extends ValidatedCall {
  readonly request: ShownRequest;
}

/**
 * Checks a call as a worker would before sending it, and builds its request. Dry runs and real starts use the same
 * checks. Sends and starts nothing, and does not need a server. @throws CliError
 */
export async function checkCall(paid: PaidRequest, place: CallPlace): Promise<CheckedCall> {
  const validated = await validateCall(paid, place);
  const config = configOfAccount(place.config, place.account);
  const baseUrl = config.baseUrl ?? (await devInUse(config, place.env))?.sandbox?.url;
  const known = validated.source.origin === 'none' ? guessed(paid) : { paid, entry: validated.entry };
  const request = await shownRequest(known.paid, known.entry, { baseUrl, policy: config.policy });
  return { ...validated, request };
}

/** Fills in placeholder reference fields for an unknown model, because only the worker knows their names. */
function guessed(paid: PaidRequest): { readonly paid: PaidRequest; readonly entry?: ModelEntry } {
  if (paid.operation !== 'create_video') return { paid };
  const references = (paid.request.references ?? []).map((reference, index) => ({
    ...reference,
    field: `<field of reference ${index + 1}>`,
  }));
  const mappings = references.map(({ kind, field, source }) => ({
    kind,
    field,
    shape: 'string' as const,
    form: 'url' in source ? ('url' as const) : ('base64' as const),
  }));
  return {
    paid: { ...paid, request: { ...paid.request, ...(references.length > 0 && { references }) } },
    entry: { id: paid.request.model, kind: 'video', references: mappings },
  };
}

/** `--dry-run`: shows the request and its estimate. */
export function showDryRun(
  { report }: CommandContext,
  { model, estimate, source, request }: CheckedCall,
): void {
  for (const line of requestLines(request)) report.result(line);
  report.result('');
  report.result(`estimate: ${estimate === null ? 'unknown' : formatMoney(estimate)}`);
  report.result(
    model === 'entry'
      ? `model: checked against its entry in ${source.location ?? ''}`
      : 'model: no model configuration entry, so values were not checked',
  );
  report.say('Dry run: nothing was sent or started.');
  report.reply({ ok: true, data: { dryRun: true, request, estimate, model, source } });
}

function requestLines({ method, baseUrl, path, headers, body, parts }: ShownRequest): string[] {
  const origin = baseUrl === null ? '' : new URL(baseUrl).origin;
  const lines = [`${method} ${origin}${path}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  lines.push('');
  if (body !== undefined) lines.push(...JSON.stringify(body, null, 2).split('\n'));
  for (const part of parts ?? [])
    lines.push(
      'file' in part
        ? `${part.name}: ${part.file} as ${part.fileName} (${part.mediaType})`
        : `${part.name}: ${part.value}`,
    );
  return lines;
}

/** Maximum size of an inline reference in bytes, as in the worker. */
const MAX_INLINE_BYTES = 64 * 1024 * 1024;

/**
 * Placeholder files for media in a request that is only shown. Request builders insert them in place of bytes, and
 * `show` replaces each with a description.
 */
class Placeholders {
  private readonly words = new Map<string, string>();

  /** Returns a placeholder for a file with known size and hash. */
  ofArtifact(artifact: ArtifactRef): WireFile {
    return this.add(artifact.mediaType, bytesText(artifact));
  }

  /** Returns a placeholder for a URL's bytes, which only the worker fetches. Data URLs are decoded here. */
  ofUrl(url: string): WireFile {
    if (!isDataUrl(url))
      return this.add('<media type>', `<bytes of ${shownAddress(url)}, fetched by the worker>`);
    const bytes = readDataUrl(url, MAX_INLINE_BYTES) ?? Buffer.alloc(0);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const media = sniffMedia(bytes.subarray(0, SNIFF_BYTES));
    return this.add(media?.mediaType ?? '<media type>', bytesText({ sha256, bytes: bytes.length }));
  }

  of(source: MediaSource): WireFile | undefined {
    if ('artifact' in source) return this.ofArtifact(source.artifact);
    return 'url' in source ? this.ofUrl(source.url) : undefined;
  }

  /** Replaces placeholders with descriptions and removes possible signatures from URLs. */
  show(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.showText(value);
    if (Array.isArray(value)) return value.map((item) => this.show(item));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.show(item)]));
  }

  showText(text: string): string {
    const prefix = /^data:[^,]*;base64,/i.exec(text)?.[0] ?? '';
    const words = this.words.get(text.slice(prefix.length));
    return words === undefined ? shownAddress(text) : `${prefix}${words}`;
  }

  private add(mediaType: string, words: string): WireFile {
    const data = Buffer.from(`placeholder ${this.words.size}`);
    this.words.set(data.toString('base64'), words);
    return { source: { data }, mediaType, sha256: '', bytes: data.length };
  }
}

/** Describes bytes in a displayed request. */
function bytesText({ sha256, bytes }: { readonly sha256: string; readonly bytes: number }): string {
  return `<file sha256:${sha256} ${bytes} bytes>`;
}

/** Formats a URL. Shows only whether it has a query, because a query may be a signature. */
function shownAddress(text: string): string {
  if (!/^https?:\/\/\S+$/i.test(text)) return text;
  const shown = shownLocation(text);
  return text.includes('?') ? `${shown}?<query>` : shown;
}

/** A store that discards bytes after measuring and hashing them, for requests that are shown but not sent. */
export const measuringStore: Pick<ArtifactStore, 'putStream'> = {
  putStream: async (source, { mediaType }) => {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of source) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    const sha256 = hash.digest('hex');
    return { uri: artifactUri(sha256), mediaType, bytes, sha256 };
  },
};
