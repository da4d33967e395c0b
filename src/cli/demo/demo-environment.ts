/**
 * The environment of a demo: without the user's service, which it must never bill, and without a codec server, which
 * neither its client nor its workers use.
 */
export function demoEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(MEDIA|TEMPORAL_CODEC)_/.test(name)));
}
