import { type FastifyInstance } from 'fastify';
import { Exchange } from './exchange';
import { type SandboxOperation } from './fault-rule';
import { type SandboxCore } from './sandbox-core';
import { errorReply } from './sandbox-reply';

/**
 * Gives every request of an origin, unknown paths included, its log entry before the body is read, and takes the
 * bodies over unparsed. Routes whose config says `silent` (the admin ones) stay out of the log.
 */
export function openExchanges(app: FastifyInstance, core: SandboxCore, origin: 'api' | 'media'): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.addHook('onRequest', async (request, reply) => {
    const config = request.routeOptions.config as { operation?: SandboxOperation; silent?: boolean };
    if (config.silent === true) return;
    const exchange = new Exchange(core, request, reply, origin, config.operation ?? 'unknown');
    core.exchanges.set(request.raw, exchange);
    if (!core.faults.takeEarlyReset(exchange.entry.operation)) return;
    exchange.finish('reset');
    reply.hijack();
    request.raw.socket.resetAndDestroy();
  });

  app.setNotFoundHandler(async (request, reply) => {
    const exchange = core.exchanges.get(request.raw);
    reply.hijack();
    exchange?.entry.violations.push('no such path or method');
    await exchange?.send(errorReply(404, 'No such path.', { code: 'unknown_path' }));
  });

  app.setErrorHandler(async (error, request, reply) => {
    const exchange = core.exchanges.get(request.raw);
    const status = (error as { statusCode?: number }).statusCode ?? 500;
    reply.hijack();
    const message = error instanceof Error ? error.message : 'The request could not be read.';
    exchange?.entry.violations.push(message);
    if (exchange !== undefined) await exchange.send(errorReply(status, message));
    else reply.raw.writeHead(status).end();
  });
}
