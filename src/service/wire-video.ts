import { type VideoModel } from '../domain/model-config';
import { type VideoRequest } from '../domain/request';
import {
  addRawFields,
  jsonBody,
  multipartBody,
  textPart,
  type WireBuild,
  type WireFields,
  type WireJsonBody,
  type WireMultipartBody,
  type WirePart,
} from './wire-body';
import { addReferences, type ResolvedReference } from './wire-references';

/**
 * The body of POST /v1/videos: JSON, or a form when the model's configuration requires one. The only place that maps
 * options of a video to wire names: `seconds` or `duration` by the configuration. Options that are not given are omitted
 * (C2.1.6).
 */
export async function wireVideoBody(
  request: VideoRequest,
  model: VideoModel | undefined,
  references: readonly ResolvedReference[],
): Promise<WireBuild<WireJsonBody | WireMultipartBody>> {
  const fields: WireFields = { model: request.model, prompt: request.prompt };
  const files: WirePart[] = [];
  if (request.durationSeconds !== undefined) {
    const asText = model?.durationForm === 'string';
    fields[model?.durationField ?? 'seconds'] = asText
      ? String(request.durationSeconds)
      : request.durationSeconds;
  }
  if (request.resolution !== undefined) fields.resolution = request.resolution;
  if (request.aspectRatio !== undefined) fields.aspect_ratio = request.aspectRatio;
  const issues = await addReferences(fields, files, references, model?.references ?? []);
  issues.push(...addRawFields(fields, request.fields));
  if (issues.length > 0) return { ok: false, issues };
  return { ok: true, body: model?.createForm === 'multipart' ? formBody(fields, files) : jsonBody(fields) };
}

/** Text parts first, then files; a list becomes one part per value, with the exact name from the configuration. */
function formBody(fields: WireFields, files: readonly WirePart[]): WireMultipartBody {
  const texts = Object.entries(fields).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one) => textPart(name, one)) : [textPart(name, value)],
  );
  return multipartBody([...texts, ...files]);
}
