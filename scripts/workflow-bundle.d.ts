/** Returns a bundle with an inline source map in its shipped form: half the size, and without local paths. */
export function shippedForm(bundle: string): Promise<string>;
