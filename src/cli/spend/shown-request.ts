import { type MediaConfig } from '../../config';
import { resolveCreatePolicy } from '../../domain/create-policy';
import { type JsonValue } from '../../domain/json';
import { type VideoReference } from '../../domain/media';
import { type ModelEntry, type VideoModel } from '../../domain/model-config';
import { type ImageEditRequest, type PaidRequest, type VideoRequest } from '../../domain/request';
import { type ValidationIssue } from '../../domain/validation-issue';
import { apiHeaders } from '../../service/api-caller';
import { apiUrl, normaliseBaseUrl } from '../../service/base-url';
import { type WireBuild, type WireJsonBody, type WireMultipartBody } from '../../service/wire-body';
import {
  type ResolvedReference,
  wireEditBody,
  wireGenerationBody,
  wireVideoBody,
} from '../../service/wire-request';
import { refuseIssues } from '../refuse-invalid';
import { bytesText, StandIns } from './stand-ins';

/** A request as it would be sent, without the key and without the bytes of media. */
export interface ShownRequest {
  readonly method: 'POST';
  /** Scheme, host and prefix of the service; null where only the worker knows it. */
  readonly baseUrl: string | null;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  /** The JSON of a video create or an image generation. */
  readonly body?: JsonValue;
  /** The parts of an image edit, or of a create that goes as a form, in the order of the wire. */
  readonly parts?: readonly ShownPart[];
}

export type ShownPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly mediaType: string; readonly file: string };

const SEGMENTS = {
  create_video: ['videos'],
  generate_image: ['images', 'generations'],
  edit_image: ['images', 'edits'],
} as const;

/** Stands for a base address that is not known here; only the path is taken from it. */
const UNKNOWN_BASE = 'http://unknown.invalid';

/** Builds the request with the builders of the worker. @throws CliError when it cannot be put into a body */
export async function shownRequest(
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
  const standIns = new StandIns();
  if (paid.operation === 'edit_image') {
    const { parts } = built(editBody(paid.request), paid);
    return { parts: parts.map(shownPart(standIns)) };
  }
  const wire =
    paid.operation === 'generate_image'
      ? wireGenerationBody(paid.request)
      : await videoBody(paid.request, entry as VideoModel | undefined, standIns);
  const body = built<WireJsonBody | WireMultipartBody>(wire, paid);
  if (body.kind === 'multipart') return { parts: body.parts.map(shownPart(standIns)) };
  const { model, prompt, ...rest } = body.json;
  // The user's own words stay as they are, whatever they look like.
  return { body: { model: model ?? null, prompt: prompt ?? null, ...(standIns.show(rest) as object) } };
}

/** References of a model that takes bytes are bytes, also those that the worker has to fetch first. */
function videoBody(
  request: VideoRequest,
  model: VideoModel | undefined,
  standIns: StandIns,
): Promise<WireBuild<WireJsonBody | WireMultipartBody>> {
  const references = (request.references ?? []).map((reference): ResolvedReference => {
    const { kind, source, field } = reference;
    const named = field === undefined ? {} : { field };
    const file = 'url' in source && !takesBytes(reference, model) ? undefined : standIns.of(source);
    return file === undefined
      ? { kind, ...named, source: { kind: 'url', url: 'url' in source ? source.url : '' } }
      : { kind, ...named, source: { kind: 'file', file } };
  });
  return wireVideoBody(request, model, references);
}

function takesBytes({ kind, field }: VideoReference, model: VideoModel | undefined): boolean {
  const mapping = model?.references?.find(
    (candidate) => candidate.kind === kind && (field === undefined || candidate.field === field),
  );
  return mapping !== undefined && mapping.form !== 'url';
}

function editBody(request: ImageEditRequest): WireBuild<WireMultipartBody> {
  const sources = [...request.images, ...(request.mask === undefined ? [] : [request.mask])];
  const files = sources.map((source) => ('artifact' in source ? source.artifact : undefined));
  const issues = files.flatMap((file, index): ValidationIssue[] =>
    file === undefined
      ? [
          {
            field: index < request.images.length ? `images[${index}]` : 'mask',
            message: 'An edit takes files, not an address.',
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
  (standIns: StandIns) =>
  (part: WireMultipartBody['parts'][number]): ShownPart => {
    const { name } = part;
    if (part.kind === 'text')
      return { name, value: name === 'prompt' ? part.value : standIns.showText(part.value) };
    const { mediaType } = part.file;
    return { name, fileName: part.fileName, mediaType, file: bytesText(part.file) };
  };

function built<Body>(wire: WireBuild<Body>, paid: PaidRequest): Body {
  if (!wire.ok) refuseIssues(wire.issues, paid);
  return (wire as Extract<WireBuild<Body>, { ok: true }>).body;
}
