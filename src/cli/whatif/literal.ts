/** Longest line of a literal. */
const WIDTH = 100;

/**
 * A JSON value as a formatter writes it in a source file: names without quotes, texts in single ones, on one line where it
 * has room. Fields that are undefined are left out.
 * @param indent columns before it
 * @param taken columns of its first line that something else needs
 */
export function literal(value: unknown, indent = 0, taken = 0): string {
  const short = oneLine(value);
  if (indent + taken + short.length <= WIDTH || typeof value !== 'object' || value === null) return short;
  const inner = ' '.repeat(indent + 2);
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, indent + 2))
    : fields(value).map(([name, item]) => `${name}: ${literal(item, indent + 2, name.length + 2)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${' '.repeat(indent)}${close}`;
}

function oneLine(value: unknown): string {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  const parts = fields(value).map(([name, item]) => `${name}: ${oneLine(item)}`);
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}

const fields = (value: object): [name: string, item: unknown][] =>
  Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => [fieldName(name), item]);

function fieldName(name: string): string {
  // Without brackets it would set the prototype.
  if (name === '__proto__') return `['__proto__']`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : text(name);
}

/** In single quotes; JSON knows how to write everything that is no letter. */
function text(value: string): string {
  const quoted = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${quoted.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;
}
