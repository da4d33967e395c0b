import { readConfig } from '../../config';
import { createModelSource } from '../../models/model-source';
import { normaliseBaseUrl } from '../../service/base-url';
import { spendLimitOf } from '../spend/spend-limit';

/** Why a value of a MEDIA_* variable cannot be used; undefined when it can. Judged alone and without a network. */
export function valueProblem(name: string, value: string): string | undefined {
  try {
    judge(name, value);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(`${name}: `, '');
  }
}

function judge(name: string, value: string): void {
  const config = readConfig({ [name]: value });
  if (name === 'MEDIA_API_KEY' || name === 'MEDIA_API_KEY_FILE') config.apiKey();
  if (name === 'MEDIA_BASE_URL') normaliseBaseUrl(value);
  // Opens nothing yet: only the form of the location is judged.
  if (name === 'MEDIA_MODELS') createModelSource({ location: value });
  if (name === 'MEDIA_MAX_SPEND') spendLimitOf(undefined, { [name]: value });
}
