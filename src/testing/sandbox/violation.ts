/** One breach of the contract in a request. */
export interface Violation {
  message: string;
  /** The field at fault. */
  param?: string;
  code?: string;
}
