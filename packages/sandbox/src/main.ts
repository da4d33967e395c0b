import { type SandboxOptions } from './options';
import { createSandbox } from './sandbox';

/**
 * @module Runs a sandbox as a process. Takes its options as JSON from SANDBOX_OPTIONS or the first argument and prints
 * one JSON line with the addresses. Exits on SIGTERM and SIGINT. If SANDBOX_OPTIONS is set and SANDBOX_DETACHED is not,
 * it exits when stdin ends instead of on SIGINT: Ctrl-C also reaches the parent, whose workers need the sandbox until
 * they have drained.
 */
async function main(): Promise<void> {
  const options = JSON.parse(process.env.SANDBOX_OPTIONS ?? process.argv[2] ?? '{}') as SandboxOptions;
  const sandbox = await createSandbox(options);
  const { url, mediaUrl, modelsUrl, adminUrl } = sandbox;
  let closing = false;
  const stop = (): void => {
    if (closing) return;
    closing = true;
    sandbox.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  const attached = !process.env.SANDBOX_DETACHED && process.env.SANDBOX_OPTIONS !== undefined;
  process.on('SIGINT', attached ? () => undefined : stop);
  if (attached) {
    process.stdin.on('end', stop).on('close', stop).resume();
  }
  process.stdout.write(`${JSON.stringify({ url, mediaUrl, modelsUrl, adminUrl, pid: process.pid })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
