declare function longOnly(files: readonly string[]): { readonly filtered: readonly string[] };
export = longOnly;
