/** Longest text of others in a details panel, in characters. */
const MAX_TEXT = 128;

/**
 * A text that we did not write, as Markdown code: no link, no heading, no line of its own. Total, also for what an
 * untyped caller calls a text: a panel that throws would stop a workflow that has paid.
 */
export function inCode(text: string): string {
  const line = String(text).replace(/[`\s]+/g, ' ');
  return `\`${line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line}\``;
}

/** Markdown of the UI's details panel: what happens, what is safe to do, and the known facts line by line. */
export function detailsText(
  title: string,
  safe: string,
  facts: readonly (readonly [name: string, value: string | null])[],
): string {
  const known = facts.flatMap(([name, value]) => (value === null ? [] : [`- ${name}: ${value}`]));
  return [`**${title}**`, '', safe, '', ...known].join('\n').trimEnd();
}
