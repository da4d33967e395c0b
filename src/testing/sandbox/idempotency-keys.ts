import { type FastifyRequest } from 'fastify';
import { type SandboxIdempotency } from './options';
import { errorReply, type SandboxReply } from './reply';
import { type SandboxRequest } from './sandbox-request';

interface PaidRequest {
  readonly request: FastifyRequest;
  readonly entry: SandboxRequest;
  readonly core: { readonly options: { readonly idempotency: SandboxIdempotency } };
}

interface KnownCall {
  /** The digest of the body; for multipart, the parts, because the boundary differs between equal requests. */
  readonly content: string;
  readonly taskId: string | null;
  readonly reply: Promise<SandboxReply>;
  isOver: boolean;
}

/** Paid calls by their idempotency key, in the modes that read keys. */
export class IdempotencyKeys {
  private readonly calls = new Map<string, KnownCall>();

  clear(): void {
    this.calls.clear();
  }

  /** Accepts a call, or repeats the reply of the first call with its key: 409 while that runs, 422 for another body. */
  async accept(
    { entry, core, request }: PaidRequest,
    accept: () => Promise<SandboxReply>,
  ): Promise<SandboxReply> {
    const key = request.headers['idempotency-key'];
    if (core.options.idempotency === 'ignored' || typeof key !== 'string') return accept();
    const name = `${entry.operation}\n${key}`;
    const before = this.calls.get(name);
    const content = entry.parts === undefined ? entry.bodySha256 : JSON.stringify(entry.parts);
    if (before !== undefined && before.content !== content)
      return refused(422, 'This key was used for another request.', 'idempotency_key_mismatch');
    if (before === undefined || core.options.idempotency === 'claimed') {
      const reply = accept();
      const { taskId = null } = entry;
      const call: KnownCall = { content, taskId, reply, isOver: false };
      this.calls.set(name, call);
      return reply.finally(() => {
        call.isOver = true;
      });
    }
    if (!before.isOver)
      return refused(409, 'The request with this key is in progress.', 'request_in_progress');
    if (before.taskId !== null) entry.taskId = before.taskId;
    const { status, headers, body } = await before.reply;
    return { status, headers: { ...headers, 'idempotent-replayed': 'true' }, body };
  }
}

function refused(status: number, message: string, code: string): SandboxReply {
  return errorReply(status, message, { param: 'idempotency-key', code });
}
