/** A bundle with an inline source map in the form in which it is shipped: half of the bytes, no place of this machine. */
export function shippedForm(bundle: string): Promise<string>;
