/** What separates the decimals of an amount. */
export type DecimalMark = '.' | ',';

/** The amount of an invoice line. */
export interface InvoiceAmount {
  /** A safe integer; negative for a credit. Half a micro-unit is rounded away from 0. */
  readonly microUnits: number;
  /** The currency's code or symbol, as written; null without one. */
  readonly unit: string | null;
  /** The decimal mark that the text shows; null if it reads the same with both. */
  readonly mark: DecimalMark | null;
  /** Whether the text has more than six decimals that are not zero. */
  readonly isRounded: boolean;
}

/** Why a text is not an amount, as the end of a sentence that begins with it. */
export interface UnreadableAmount {
  readonly problem: string;
}

/**
 * Parses an amount as programs and spreadsheets write it: `1,234.56`, `1.234,56`, `1 234,56`, `$0.35`, `0.35 USD`,
 * `(0.35)`, `-0.35`, `3.5e-05`. Without a given mark, a text that could mean two numbers is refused, never guessed.
 */
export function readInvoiceAmount(text: string, given?: DecimalMark): InvoiceAmount | UnreadableAmount {
  const parts = partsOf(text.replace(/[\s\u2007\u2009\u202f\u00a0]+/g, ' ').trim());
  if (parts === undefined) return { problem: NOT_AN_AMOUNT };
  const { isNegative, unit, body } = parts;
  const byPoint = given === ',' ? undefined : (byExponent(body) ?? digitsOf(body));
  const byComma = given === '.' ? undefined : digitsOf(body.replace(/[.,]/g, (sign) => OTHER[sign] ?? sign));
  const digits = byPoint ?? byComma;
  if (digits === undefined)
    return {
      problem: given === undefined ? NOT_AN_AMOUNT : `is not an amount with --decimal "${given}".`,
    };
  const [microUnits, isRounded] = microUnitsOf(digits);
  if (byPoint !== undefined && byComma !== undefined) {
    const [other] = microUnitsOf(byComma);
    if (other !== microUnits) return { problem: AMBIGUOUS };
  }
  if (!Number.isSafeInteger(microUnits)) return { problem: 'is too large.' };
  const isEither = given === undefined && byPoint !== undefined && byComma !== undefined;
  const mark = isEither ? null : byPoint === undefined ? ',' : '.';
  return { microUnits: isNegative && microUnits > 0 ? -microUnits : microUnits, unit, mark, isRounded };
}

const OTHER: { readonly [sign: string]: string } = { '.': ',', ',': '.' };

const NOT_AN_AMOUNT = 'is not an amount. Allowed: 0.35, -0.35, (0.35), 1,234.56, $0.35, 0.35 USD.';
const AMBIGUOUS =
  'can mean two amounts, because the separator may belong to decimals or to thousands. Pass --decimal . or --decimal ,';

/** Sign, currency, sign, number, sign, currency. */
const PARTS =
  /^([-+]?) ?((?:[A-Z]{0,2}\p{Sc}|[A-Za-z]{3})?) ?([-+]?) ?([\d.,'’ ]*\d[.,]?(?:e[-+]?\d{1,2})?) ?([-+]?) ?((?:[A-Z]{0,2}\p{Sc}|[A-Za-z]{3})?)$/u;

/** Splits a text into its sign, currency and number. Parentheses mean a credit. */
function partsOf(
  text: string,
): { readonly isNegative: boolean; readonly unit: string | null; readonly body: string } | undefined {
  const inside = /^([^()]*)\(([^()]*)\)([^()]*)$/.exec(text);
  const plain = inside === null ? text : inside.slice(1).join('');
  const found = PARTS.exec(
    plain
      .trim()
      .replace(/^[\u2212\u2013]|[\u2212\u2013]$/, '-')
      .replace(/E(?=[-+]?\d)/, 'e'),
  );
  if (found === null) return undefined;
  const [, before = '', first = '', after = '', body = '', last = '', second = ''] = found;
  const signs = `${before}${after}${last}${inside === null ? '' : '-'}`;
  if (signs.length > 1 || (first !== '' && second !== '')) return undefined;
  return { isNegative: signs === '-', unit: `${first}${second}` || null, body: body.trim() };
}

/** The digits of a number, before and after its decimal point. */
type Digits = readonly [whole: string, decimals: string];

/** Groups of thousands never start with 0, so `0.350` is not 350. */
const PLAIN =
  /^(\d+|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,2}(?: \d{3})+|[1-9]\d{0,2}(?:['’]\d{3})+)?(?:\.(\d*))?$/;

/** Reads a number with a decimal point. */
function digitsOf(body: string): Digits | undefined {
  const found = PLAIN.exec(body);
  if (found === null || !/\d/.test(body)) return undefined;
  const [, whole = '', decimals = ''] = found;
  return [whole.replace(/\D/g, ''), decimals];
}

/** Reads `3.5e-05`, which programs write for small numbers. */
function byExponent(body: string): Digits | undefined {
  const found = /^(\d+)(?:\.(\d*))?e([-+]?\d{1,2})$/.exec(body);
  if (found === null) return undefined;
  const [, whole = '', decimals = '', exponent = '0'] = found;
  const shift = Number(exponent);
  const digits = `${'0'.repeat(Math.max(0, -shift))}${whole}${decimals}${'0'.repeat(Math.max(0, shift))}`;
  const point = Math.max(0, -shift) + whole.length + shift;
  return [digits.slice(0, point), digits.slice(point)];
}

function microUnitsOf([whole, decimals]: Digits): readonly [microUnits: number, isRounded: boolean] {
  const rest = decimals.slice(6);
  const micro = Number(whole) * 1_000_000 + Number(decimals.slice(0, 6).padEnd(6, '0'));
  return [micro + (/^[5-9]/.test(rest) ? 1 : 0), /[1-9]/.test(rest)];
}

const DOLLARS = ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'TWD', 'MXN'];
const SYMBOLS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    $: DOLLARS,
    US$: ['USD'],
    C$: ['CAD'],
    CA$: ['CAD'],
    A$: ['AUD'],
    AU$: ['AUD'],
    NZ$: ['NZD'],
    S$: ['SGD'],
    HK$: ['HKD'],
    R$: ['BRL'],
    '€': ['EUR'],
    '£': ['GBP'],
    '¥': ['JPY', 'CNY'],
    '₹': ['INR'],
  }),
);

/** Returns the ISO 4217 codes that a code or symbol can mean. Empty for an unknown symbol. */
export function currenciesOf(unit: string): readonly string[] {
  return /^[A-Za-z]{3}$/.test(unit) ? [unit.toUpperCase()] : (SYMBOLS.get(unit) ?? []);
}
