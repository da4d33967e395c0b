/**
 * A cell that no spreadsheet takes for a formula. Spreadsheets evaluate what begins with `=`, `+`, `-`, `@` (their wide
 * forms too), a tab or a line break; and where they split at `;` or tab instead of the comma, what follows one.
 * An apostrophe in front makes it text. Numbers are no texts: a caller passes them as such.
 */
export function csvCell(value: string): string {
  const inside = value.replace(AFTER_SEPARATOR, "$1'");
  return FORMULA.test(inside) ? `'${inside}` : inside;
}

const FORMULA = /^[\s"']*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const AFTER_SEPARATOR = /([;|\t\r\n]["'\s]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
