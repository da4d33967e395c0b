import { QUERY_MESSAGES, UPDATE_MESSAGES, WORKFLOW_MESSAGES } from '../cli/schemas/messages';

const code = (name: string | null): string => (name === null ? '-' : `\`${name}\``);

/** Rows of the tables of docs/other-languages.md, as cells. */
export const MESSAGE_TABLES: { readonly [heading: string]: readonly (readonly string[])[] } = {
  'Workflow type': Object.entries(WORKFLOW_MESSAGES).map(([name, { input, result }]) => [
    code(name),
    code(input),
    code(result),
  ]),
  Query: QUERY_MESSAGES.map(({ name, of, result }) => [code(name), of.map(code).join(', '), code(result)]),
  Update: UPDATE_MESSAGES.map(({ name, of, argument, result }) => [
    code(name),
    code(of),
    code(argument),
    code(result),
  ]),
};

/** The rows of the table of a page whose first column has this heading, without padding. */
export function tableOf(page: string, heading: string): string[][] {
  const [, table = ''] =
    new RegExp(`\\n\\| ${heading} +\\|[^\\n]*\\n\\|[-| ]+\\n((?:\\|[^\\n]*\\n)*)`).exec(page) ?? [];
  return table
    .trimEnd()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
