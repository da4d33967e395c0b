import { type FastifyInstance } from 'fastify';
import { apiRoute } from './exchange';
import { FaultRuleError, readFaultRules } from './faults';
import { sandboxModels } from './models';
import { openapiDocument } from './openapi/document';
import { promptDirectives } from './prompt-directives';
import { answerReadCall } from './read-call';
import { jsonReply } from './reply';
import { type SandboxCore } from './sandbox-core';
import { type SandboxTaskPatch, statusAt } from './tasks';

/** Routes for tests and demos under {url}/_sandbox, as docs/sandbox.md lists them; they need no credentials. */
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
  app.patch('/_sandbox/tasks/:id', { config }, async (request, reply) => {
    const task = core.patchTask((request.params as { id: string }).id, jsonOf(request) as SandboxTaskPatch);
    return task ?? reply.code(404).send({});
  });
  app.get('/_sandbox/openapi.json', { config }, async () => openapiDocument(core.options.mode, core.url));
  app.get('/_sandbox/directives', { config }, async () =>
    promptDirectives.map(({ example, meaning }) => ({ example, meaning })),
  );
}

/** Bodies arrive unparsed. */
const jsonOf = ({ body }: { readonly body: unknown }): unknown => JSON.parse(String(body));
