/** Options of both servers: long ids, large uploads, connections that outlive a poll interval, a quick close. */
export const serverOptions = {
  bodyLimit: 512 * 1024 * 1024,
  forceCloseConnections: true,
  keepAliveTimeout: 72_000,
  requestTimeout: 0,
  routerOptions: { maxParamLength: 2_048 },
} as const;
