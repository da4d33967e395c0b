/** Placeholders in advice: words in capitals, which commands replace with values. */

/** Values for the placeholders. A placeholder without a value is left unchanged. */
export interface AdviceValues {
  readonly [name: string]: string | null | undefined;
}

/**
 * Returns advice with values inserted. In commands, values are quoted for the shell, and an id that looks like an
 * option is placed after `--`.
 * @param word quotes a word for the current shell. @default inserts only values that need no quotes and keeps the
 * placeholder for all other values
 */
export function filled(text: string, values: AdviceValues, word: Word = plainWord): string {
  const put = (all: string, option: string, name: string, isCode: boolean): string => {
    const value = values[name];
    if (value == null) return all;
    if (!isCode) return `${option}${value}`;
    const quoted = word(value);
    if (quoted === undefined) return all;
    return `${option === '' && value.startsWith('-') ? '-- ' : option}${quoted}`;
  };
  return text
    .split('`')
    .map((part, index) =>
      part.replace(/(--[a-z-]+ )?\b([A-Z]{2,})\b/g, (all: string, option: string | undefined, name: string) =>
        put(all, option ?? '', name, index % 2 === 1),
      ),
    )
    .join('`');
}

/** Quotes a word for a shell. Returns undefined if the word must not be inserted. */
export type Word = (text: string) => string | undefined;

const plainWord: Word = (text) => (/^\w[\w.:@/-]{0,127}$/.test(text) ? text : undefined);
