/**
 * The environment of a child process that needs no secret of the user (C5.4a): without keys, addresses and stores of the
 * media workers (`MEDIA_*`), and without what the AWS SDK and libpq read (`AWS_*`, `PG*`).
 * @param also further names to leave out
 */
export function childEnvironment(env: NodeJS.ProcessEnv, also?: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^(?:MEDIA_|AWS_|PG[A-Z])/i.test(name) && also?.test(name) !== true,
    ),
  );
}
