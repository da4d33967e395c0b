/** gRPC NOT_FOUND. */
const NOT_FOUND = 5;

/** Whether a call of the raw workflow service failed because the server does not have the object. */
export function isGrpcNotFound(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === NOT_FOUND;
}

/**
 * The pages of a list of the raw workflow service. Unlike a list of a client, it decodes no memo: another client's codec
 * may have written it.
 */
export async function* pagesOf<Page extends { readonly nextPageToken?: Uint8Array | null }>(
  namespace: string,
  list: (part: { readonly namespace: string; readonly nextPageToken?: Uint8Array }) => Promise<Page>,
): AsyncGenerator<Page> {
  let nextPageToken: Uint8Array | null | undefined;
  do {
    const page: Page = await list({ namespace, ...(nextPageToken && { nextPageToken }) });
    yield page;
    ({ nextPageToken } = page);
  } while (nextPageToken?.length);
}
