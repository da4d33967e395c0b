/** gRPC NOT_FOUND. */
const NOT_FOUND = 5;

/** Whether a call of the raw workflow service failed because the server does not have the object. */
export function isGrpcNotFound(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === NOT_FOUND;
}
