import multipart from '@fastify/multipart';
import fastify, { type FastifyInstance } from 'fastify';
import { answerReadCall } from './answer-call';
import { openExchanges, apiRoute, type Exchange } from './exchange';
import { FaultRuleError, readFaultRules } from './faults';
import { addImageRoutes } from './image-routes';
import { InvoiceErrorsError, writeInvoice } from './invoice';
import { sandboxModels } from './models';
import { openapiDocument } from './openapi/document';
import { resolveSandboxOptions, type SandboxOptions } from './options';
import { promptDirectives } from './prompt-directives';
import { errorReply, rangedReply, type SandboxReply, jsonReply } from './reply';
import { SandboxCore, serverOptions } from './sandbox-core';
import { type SandboxTaskPatch, statusAt } from './tasks';
import { addVideoRoutes, taskVideo } from './video-routes';

/** Addresses of a running sandbox, all without a trailing slash. */
export interface SandboxAddresses {
  /** The service's base address, including the path prefix. */
  url: string;
  /** The second origin, which serves signed links. */
  mediaUrl: string;
  /** The live model configuration document. */
  modelsUrl: string;
  /** The address that `SandboxAdmin` uses. */
  adminUrl: string;
}

/** A sandbox that runs in this process. */
export interface Sandbox extends SandboxAddresses {
  /** Stops both servers and destroys stalled connections. */
  close(): Promise<void>;
}

/** Starts the contract's service in this process, on two ports of the loopback interface. */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const resolved = resolveSandboxOptions(options);
  const core = new SandboxCore(resolved);
  const api = fastify(serverOptions);
  openExchanges(api, core, 'api');
  const limits = { fileSize: serverOptions.bodyLimit, fieldSize: serverOptions.bodyLimit, files: 1000 };
  await api.register(multipart, { limits, ...{ preservePath: true } });
  await api.register(
    async (scope) => {
      addVideoRoutes(scope, core);
      addImageRoutes(scope, core);
      addAdminRoutes(scope, core);
    },
    { prefix: resolved.pathPrefix },
  );
  const media = createMediaOrigin(core);
  const close = async (): Promise<void> => {
    await Promise.all([shut(api), shut(media)]);
    await core.close();
  };
  try {
    core.url = (await api.listen({ port: resolved.port, host: resolved.host })) + resolved.pathPrefix;
    core.mediaUrl = await media.listen({ port: resolved.mediaPort, host: resolved.host });
  } catch (error) {
    await close();
    throw error;
  }
  const adminUrl = `${core.url}/_sandbox`;
  return { url: core.url, mediaUrl: core.mediaUrl, modelsUrl: `${adminUrl}/models.json`, adminUrl, close };
}

async function shut(app: FastifyInstance): Promise<void> {
  await app.close();
  app.server.closeAllConnections();
}

/**
 * Creates the second origin, on its own port. It serves videos through signed, expiring links and represents an
 * external host, so a key or cookie that reaches it violates the contract (section 5, rule 3).
 */
function createMediaOrigin(core: SandboxCore): FastifyInstance {
  const app = fastify(serverOptions);
  openExchanges(app, core, 'media');
  apiRoute(app, core, { method: 'GET', url: '/files/:id', operation: 'media' }, readFile);
  return app;
}

async function readFile(exchange: Exchange, name: string): Promise<void> {
  const { core, entry } = exchange;
  if (entry.authorization !== 'none')
    entry.violations.push('an Authorization header reached the media origin');
  if (entry.cookie) entry.violations.push('a cookie reached the media origin');
  const task = core.tasks.get(name.replace(/\.mp4$/, ''));
  await answerReadCall(exchange, {
    taskId: task?.id,
    model: task?.model,
    prompt: task?.prompt,
    mediaType: 'video/mp4',
    reply: async (): Promise<SandboxReply> => {
      const state = core.signer.check(entry.path, exchange.query, Date.now());
      if (state === 'invalid')
        return errorReply(403, 'The signature does not match.', { code: 'bad_signature' });
      if (state === 'expired') return errorReply(403, 'The link has expired.', { code: 'link_expired' });
      if (task === undefined) return errorReply(404, 'No such file.', { code: 'not_found' });
      const media = await taskVideo(core, task);
      return rangedReply(media, 'video/mp4', exchange.request.headers);
    },
  });
}

/**
 * Adds the routes for tests and demos under {url}/_sandbox, which docs/sandbox.md lists. They do not need credentials.
 */
export function addAdminRoutes(app: FastifyInstance, core: SandboxCore): void {
  const config = { silent: true };

  apiRoute(app, core, { method: 'GET', url: '/_sandbox/models.json', operation: 'models' }, (exchange) =>
    answerReadCall(exchange, { mediaType: 'application/json', reply: () => jsonReply(200, sandboxModels) }),
  );
  app.get('/_sandbox/requests', { config }, async (request) =>
    core.log.list(request.query as { operation?: string }),
  );
  app.get('/_sandbox/counters', { config }, async (request) =>
    (request.query as { prompts?: string }).prompts === 'none'
      ? { ...core.counters, acceptedByPromptHash: {} }
      : core.counters,
  );
  app.get('/_sandbox/poll-gaps', { config }, async (request) => {
    const shown = core.pollGaps.show();
    if ((request.query as { begin?: string }).begin !== undefined) core.pollGaps.begin();
    return shown;
  });
  app.get('/_sandbox/faults', { config }, async () => core.faults.list());
  app.post('/_sandbox/faults', { config }, async (request, reply) => {
    try {
      core.faults.add(readFaultRules(jsonOf(request)));
    } catch (error) {
      if (!(error instanceof FaultRuleError || error instanceof SyntaxError)) throw error;
      return reply.code(400).send({ error: { message: error.message } });
    }
    return core.faults.list();
  });
  app.delete('/_sandbox/faults', { config }, async () => {
    core.faults.clear();
    return [];
  });
  app.post('/_sandbox/reset', { config }, async () => {
    core.reset();
    return {};
  });
  app.put('/_sandbox/api-keys', { config }, async (request) => {
    core.options.apiKeys = jsonOf(request) as string[];
    return {};
  });
  app.post('/_sandbox/release', { config }, async () => ({ released: core.releaseStalled() }));
  app.get('/_sandbox/tasks', { config }, async () =>
    [...core.tasks.values()].map((task) => ({ ...task, shown: statusAt(task, Date.now()) })),
  );
  app.post('/_sandbox/invoice', { config }, async (request, reply) => {
    try {
      const requests = core.log.list();
      return writeInvoice(
        { tasks: core.tasks.values(), images: core.images, requests },
        jsonOf(request),
        Date.now(),
      );
    } catch (error) {
      if (!(error instanceof InvoiceErrorsError || error instanceof SyntaxError)) throw error;
      return reply.code(400).send({ error: { message: error.message } });
    }
  });
  app.patch('/_sandbox/tasks/:id', { config }, async (request, reply) => {
    const task = core.patchTask((request.params as { id: string }).id, jsonOf(request) as SandboxTaskPatch);
    return task ?? reply.code(404).send({});
  });
  app.get('/_sandbox/openapi.json', { config }, async () => openapiDocument(core.options.mode, core.url));
  app.get('/_sandbox/directives', { config }, async () =>
    promptDirectives.map(({ example, meaning }) => ({ example, meaning })),
  );
}

/** Parses a request body, because bodies arrive unparsed. */
const jsonOf = ({ body }: { readonly body: unknown }): unknown => JSON.parse(String(body));
