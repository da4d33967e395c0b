/** One problem of a request: the field, what is allowed, what to do (C8.1). Nothing was sent. */
export interface ValidationIssue {
  /** Path in the camelCase request, for example `references[1].source`. */
  readonly field: string;
  /** One sentence for a person. */
  readonly message: string;
  /** Allowed values, when the set is finite. */
  readonly allowed?: readonly string[];
  /** The field of the request to use instead. */
  readonly instead?: string;
}
