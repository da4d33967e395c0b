import { type FastifyInstance } from 'fastify';
import { type Exchange } from './exchange';
import { type SandboxOperation } from './fault-rule';
import { type SandboxCore } from './sandbox-core';

/** Method, path below the prefix, and the operation under which requests are logged. */
export interface ApiRoute {
  method: 'GET' | 'POST';
  url: string;
  operation: SandboxOperation;
}

/** Adds a route whose handler writes its own reply; `id` is the decoded path parameter, if there is one. */
export function apiRoute(
  app: FastifyInstance,
  core: SandboxCore,
  { method, url, operation }: ApiRoute,
  handle: (exchange: Exchange, id: string) => Promise<void>,
): void {
  app.route({
    method,
    url,
    exposeHeadRoute: false,
    config: { operation },
    handler: async (request, reply) => {
      const exchange = core.exchanges.get(request.raw);
      if (exchange === undefined) throw new Error('The request has no log entry.');
      reply.hijack();
      if (Buffer.isBuffer(request.body)) exchange.takeBody(request.body);
      try {
        await handle(exchange, (request.params as { id?: string }).id ?? '');
      } catch (error) {
        if (!reply.raw.headersSent) reply.raw.writeHead(500);
        reply.raw.end();
        process.stderr.write(`sandbox: ${error instanceof Error ? error.stack : String(error)}\n`);
      }
    },
  });
}
