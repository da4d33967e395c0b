import { writeFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { badInput, CliError } from '../cli-error';
import {
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  effectiveEnvironment,
} from '../command-context';
import { modelsInForce } from '../models/models-in-force';
import { shellWord } from '../shell-word';
import { columnHelp, manifestTemplate, templateText } from './manifest-template';

const FORMATS: { readonly [extension: string]: 'csv' | 'jsonl' } = {
  '.csv': 'csv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
};

/** `campaign init`: a manifest to begin with, with the columns and values of the configured models. @throws CliError */
export async function initManifest(
  context: CommandContext,
  name: string,
  options: CommonOptions,
): Promise<void> {
  const { report } = context;
  const format = FORMATS[extname(name).toLowerCase()];
  if (format === undefined)
    throw badInput([{ field: 'file', message: 'must end in one of these.', allowed: Object.keys(FORMATS) }]);
  const { entries, origin } = await modelsInForce(
    effectiveConfig(context, options),
    effectiveEnvironment(context, options),
  );
  const template = manifestTemplate(entries);
  const file = resolve(name);
  try {
    await writeFile(file, templateText(template, format), { flag: 'wx' });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    if (code === 'EEXIST')
      throw new CliError('cannot_write', `${file} is there already. Nothing is overwritten.`, {
        hint: 'Name another file: `temporal-media campaign init FILE`.',
      });
    throw new CliError('cannot_write', `${file} cannot be written (${code}).`);
  }
  if (origin.origin === 'none')
    report.say(
      'No model configuration is known here (MEDIA_MODELS): the columns are those of any video, and the row is refused until it names a model of your service.',
    );
  report.say('Columns:');
  for (const line of columnHelp(template)) report.say(line);
  report.say(`Then: temporal-media campaign run ${shellWord(name)} --dry-run`);
  report.say(
    'Nothing but prompts? `temporal-media campaign run --prompts FILE --model MODEL` takes one in each line.',
  );
  report.result(file);
  const { columns, rows } = template;
  report.reply({ ok: true, data: { file, format, columns, rows: rows.length, source: origin } });
}
