import { createSandbox } from './sandbox';
import { type SandboxOptions } from './options';

/**
 * @module A sandbox as a process: options as JSON in SANDBOX_OPTIONS or the first argument, one JSON line with the
 * addresses on stdout, SIGTERM or SIGINT ends it, and so does the end of stdin unless SANDBOX_DETACHED is set.
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
  process.on('SIGINT', stop);
  if (!process.env.SANDBOX_DETACHED && process.env.SANDBOX_OPTIONS !== undefined) {
    process.stdin.on('end', stop).on('close', stop).resume();
  }
  process.stdout.write(`${JSON.stringify({ url, mediaUrl, modelsUrl, adminUrl, pid: process.pid })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
