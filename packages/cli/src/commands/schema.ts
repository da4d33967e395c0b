import { Argument, type Command } from 'commander';
import { CliError } from '../errors';
import { type CommandContext } from '../context';
import { nearNames } from '../text';
import { withOutputOptions } from '../report';
import { isSchemaName, jsonSchemaOf, SCHEMA_NAMES } from '../schemas';
import { textTable } from '../progress-view';

/** `schema`: prints the JSON Schemas of what this program reads and writes. */
export function addSchemaCommand(program: Command, context: CommandContext): void {
  const argument = new Argument('[name]', 'what to describe');
  // For help and completion only: `schema` itself reports a wrong name, with similar ones.
  argument.argChoices = Object.keys(SCHEMA_NAMES);
  withOutputOptions(program.command('schema').addArgument(argument))
    .description('print the JSON Schema of a file or an output; without a name, list the schemas')
    .addHelpText('after', HELP)
    .action(async (name: string | undefined) => schema(context, name));
}

const HELP = `
JSON Schema, draft 2020-12. Readers should ignore fields that a schema does not name.

Examples:
  $ temporal-media schema
  $ temporal-media schema models > models.schema.json
`;

async function schema({ report }: CommandContext, name: string | undefined): Promise<void> {
  if (name === undefined) {
    const schemas = Object.entries(SCHEMA_NAMES).map(([one, description]) => ({ name: one, description }));
    for (const line of textTable(schemas.map((one) => [one.name, one.description]))) report.result(line);
    report.reply({ ok: true, data: { schemas } });
    return;
  }
  if (!isSchemaName(name)) {
    const names = Object.keys(SCHEMA_NAMES);
    const near = nearNames(name, names);
    const hint = near.length === 0 ? `There are: ${names.join(', ')}.` : `Did you mean: ${near.join(', ')}?`;
    throw new CliError('bad_input', `There is no schema ${name}.`, { hint });
  }
  const found = await jsonSchemaOf(name);
  for (const line of JSON.stringify(found, null, 2).split('\n')) report.result(line);
  report.reply({ ok: true, data: { name, schema: found } });
}
