/** Code of gRPC. */
const NOT_FOUND = 5;

/** Whether a call of the raw workflow service says that the server does not have what was asked for. */
export function isGrpcNotFound(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === NOT_FOUND;
}
