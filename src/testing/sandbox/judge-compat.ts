import { judgeEdit, judgeGeneration } from './judge-image';
import { judgeVideo } from './judge-video';
import { type JsonObject, textOf } from './json-value';
import { localPathFields } from './local-path';
import { sandboxModels } from './model-catalog';
import { readNominalSize } from './nominal-size';
import { type SandboxPart } from './sandbox-request';
import { type Violation } from './violation';

/*
 * What published clients send is put into the form that `strict` wants and then judged by it: other fields are ignored,
 * names and order of parts are free, but the limits of the model's configuration hold as ever.
 */

const generationFields = ['model', 'prompt', 'size', 'quality', 'n', 'response_format'];
const imageNames = ['image', 'image[]'];

/** Breaches in a create, as `compatCreate` made it. */
export function judgeCompatVideo(body: JsonObject): Violation[] {
  const model = sandboxModels.models.find((one) => one.id === body.model);
  const video = model?.kind === 'video' ? model : undefined;
  const seconds = body.seconds ?? body.duration;
  const duration =
    seconds === undefined
      ? {}
      : { [video?.durationField ?? 'seconds']: video?.durationForm === 'string' ? textOf(seconds) : seconds };
  const found = judgeVideo(
    { ...picked(body, ['model', 'prompt', 'resolution', 'aspect_ratio']), ...duration },
    sandboxModels,
  );
  if (body.size !== undefined && readNominalSize(textOf(body.size)) === undefined) {
    found.push({ message: 'size is not allowed by this model', param: 'size', code: 'invalid_size' });
  }
  const base64 = (video?.references ?? []).filter((one) => one.form === 'base64').map((one) => one.field);
  for (const field of localPathFields(body, ['prompt', ...base64])) {
    found.push({ message: `${field} holds a local file path`, param: field, code: 'local_path' });
  }
  return found;
}

/** Breaches in a generation, as `compatGeneration` made it. */
export function judgeCompatGeneration(body: JsonObject): Violation[] {
  return judgeGeneration(picked(body, generationFields), sandboxModels);
}

/** Breaches in an edit, whatever the order of its parts and the names of its images. */
export function judgeCompatEdit(parts: readonly SandboxPart[]): Violation[] {
  const texts = parts.filter((part) => part.kind === 'field' && generationFields.includes(part.name));
  const images = parts.filter((part) => part.kind === 'file' && imageNames.includes(part.name));
  const mask = parts.filter((part) => part.name === 'mask');
  const name = images.length === 1 ? 'image' : 'image[]';
  return judgeEdit(
    [
      ...texts.filter((part) => part.name === 'model'),
      ...texts.filter((part) => part.name !== 'model'),
      ...images.map((part) => ({ ...part, name })),
      ...mask,
    ],
    sandboxModels,
  );
}

function picked(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}
