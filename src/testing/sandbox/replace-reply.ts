import { type FaultAction } from './fault-rule';
import { errorReply, faultReply, type SandboxReply } from './sandbox-reply';

const page = JSON.stringify({
  error: { message: 'The file could not be read.', type: 'server_error', code: null },
});
const html = '<!doctype html><html><head><title>502</title></head><body><h1>Bad gateway</h1></body></html>';

/**
 * The reply that a fault puts in the place of the normal one; undefined when the fault changes the record or the
 * transport only. `mediaType` is what a page pretends to be, `notReady` the status of content that is not there yet.
 */
export function replaceReply(
  action: FaultAction,
  mediaType: string,
  notReady: number = 404,
): SandboxReply | undefined {
  switch (action.type) {
    case 'status':
    case 'accept_then_status':
      return faultReply(action);
    case 'json_page':
      return { status: 200, headers: { 'content-type': mediaType }, body: Buffer.from(page) };
    case 'html_page':
      return { status: 200, headers: { 'content-type': mediaType }, body: Buffer.from(html) };
    case 'not_ready':
      return errorReply(action.status ?? notReady, 'The content is not available yet.', {
        code: 'not_ready',
      });
    case 'expired':
      return errorReply(404, 'The file has expired.', { code: 'expired' });
    case 'redirect':
      return { status: action.status ?? 302, headers: { location: action.location }, body: Buffer.alloc(0) };
    default:
      return undefined;
  }
}
