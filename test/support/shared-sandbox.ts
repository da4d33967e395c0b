import { SandboxAdmin, type SandboxOptions, type SandboxProcess } from '../../packages/sandbox/src';
import { SANDBOX_HOST } from './test-hosts';

/** A sandbox of one test file, beside those of other files in one process; nothing but the process is shared. */
export type TestSandbox = Omit<SandboxProcess, 'pid'>;

/** Starts a sandbox in the process that serves all test files. Throws what the sandbox says of its options. */
export async function startTestSandbox(options: SandboxOptions = {}): Promise<TestSandbox> {
  const host = process.env[SANDBOX_HOST];
  if (host === undefined) throw new Error('No process for sandboxes: test/support/needs.js says "nothing".');
  const started = (await ask(host, 'POST', options)) as Omit<TestSandbox, 'admin' | 'close'>;
  return {
    ...started,
    admin: new SandboxAdmin(started.adminUrl),
    close: async () => {
      await ask(host, 'DELETE', { url: started.url });
    },
  };
}

async function ask(host: string, method: 'POST' | 'DELETE', body: object): Promise<unknown> {
  const reply = await fetch(host, { method, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(await reply.text());
  return reply.json();
}
