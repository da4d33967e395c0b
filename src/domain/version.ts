/** Version of this package, as in package.json: workflow code reads no files. */
export const PACKAGE_VERSION = '0.2.0';

/** Memo field with the version of this package that started a workflow. */
export const VERSION_MEMO = 'mediaVersion';

/** Memo of every workflow that this package starts: a replay names the version. */
export const STARTED_BY = { [VERSION_MEMO]: PACKAGE_VERSION } as const;
