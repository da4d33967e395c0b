declare function everyChange(files: readonly string[]): { readonly filtered: readonly string[] };
export = everyChange;
