import { readConfig } from 'temporal-media/internal/config';
import { CliError } from '../errors';
import { type CommandContext, type CommonOptions, effectiveEnvironment } from '../context';
import { readDevState } from '../dev/state';
import { devInUse } from '../models/models-in-force';
import { textTable } from '../progress-view';
import { type ConfigValue } from '../config';
import { mediaValues, temporalValues } from '../config-values';

/**
 * Prints every value in force, the broken ones too.
 * @throws CliError `configuration` after all are printed, when one cannot be used
 */
export async function showConfig(context: CommandContext, options: CommonOptions): Promise<void> {
  const { report } = context;
  const env = effectiveEnvironment(context, options);
  // A broken variable must not hide the others.
  const usable = readConfig({ MEDIA_DATA_DIR: env['MEDIA_DATA_DIR'] });
  const [inUse, running] = await Promise.all([devInUse(usable, env), readDevState(usable.dataDir)]);
  const flags = new Set(options.dataDir === undefined ? [] : ['MEDIA_DATA_DIR']);
  const media = mediaValues({ env, flags, dev: inUse, dataDir: usable.dataDir });
  const values = [...media, ...temporalValues(env, running)];
  for (const line of textTable([['NAME', 'VALUE', 'FROM', ''], ...values.map(row)])) report.result(line);
  const broken = values.filter(({ problem }) => problem !== undefined);
  if (broken.length === 0) {
    report.reply({ ok: true, data: { values } });
    return;
  }
  const names = broken.map(({ name }) => name).join(', ');
  throw new CliError('configuration', `These values cannot be used: ${names}.`, {
    hint: 'Correct each value where it is set. The list shows the problem of each.',
    data: { values },
  });
}

function row({ name, value, origin, problem, note, unknown, nearest }: ConfigValue): string[] {
  const remarks = [
    ...(problem === undefined ? [] : [`! ${problem}`]),
    ...(note === undefined ? [] : [note]),
    ...(unknown === true
      ? [nearest ? `unknown; did you mean ${nearest}?` : 'unknown: nothing reads it']
      : []),
  ];
  return [name, value ?? '-', value === null ? '-' : origin, remarks.join('; ').replace(/\s+/g, ' ')];
}
