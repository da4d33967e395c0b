import {
  createSandbox,
  type Sandbox,
  SandboxAdmin,
  type SandboxOptions,
} from '../../../packages/sandbox/src';
import { jsonOf, postJson, rawCall, type RawReply } from './raw-call';

/** A sandbox with its admin and the calls that most tests need. */
export interface RunningSandbox extends Sandbox {
  admin: SandboxAdmin;
  create(body: Record<string, unknown>): Promise<RawReply>;
  /** Creates a task and returns its id. */
  newTask(body?: Record<string, unknown>): Promise<string>;
  taskUrl(id: string): string;
  poll(id: string): Promise<Record<string, unknown>>;
}

export const aVideo = { model: 'cine-1', prompt: 'a cat on a roof', seconds: 2 };

/** A sandbox in this process whose tasks are completed at once. */
export async function runSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
  const sandbox = await createSandbox({ timing: { queuedMs: 0, runningMs: 0 }, ...options });
  const create = (body: Record<string, unknown>): Promise<RawReply> =>
    postJson(`${sandbox.url}/v1/videos`, body);
  const taskUrl = (id: string): string => `${sandbox.url}/v1/videos/${encodeURIComponent(id)}`;
  return {
    ...sandbox,
    admin: new SandboxAdmin(sandbox.adminUrl),
    create,
    taskUrl,
    newTask: async (body = {}) => String(jsonOf(await create({ ...aVideo, ...body })).id),
    poll: async (id) => jsonOf(await rawCall(taskUrl(id))),
  };
}
