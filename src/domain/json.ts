/** A value that survives JSON unchanged: what may cross a Temporal payload or a request body. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
