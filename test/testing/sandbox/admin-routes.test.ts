import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastify from 'fastify';
import { type FaultRule } from '../../../packages/sandbox/src';
import { resolveSandboxOptions } from '../../../packages/sandbox/src/options';
import { addAdminRoutes } from '../../../packages/sandbox/src/sandbox';
import { SandboxCore } from '../../../packages/sandbox/src/sandbox-core';
import { runSandbox, type RunningSandbox } from './running-sandbox';

/** A row of the table in docs/sandbox.md. */
interface Documented {
  readonly method: string;
  readonly path: string;
  /** JSON; undefined without one. */
  readonly body: string | undefined;
  readonly query: string;
  /** As the page writes it: `[{a, b}]`, `{a}`, `[]`. */
  readonly reply: string;
}

const PAGE = readFileSync(join(__dirname, '../../../docs/sandbox.md'), 'utf8');

const DOCUMENTED = PAGE.split('\n').flatMap((line): Documented[] => {
  const [, method = '', path = '', given = '', reply = ''] = line.split('|').map((cell) => cell.trim());
  if (!/^`(GET|POST|PUT|PATCH|DELETE)`$/.test(method)) return [];
  const [, example = ''] = /^`([^`]+)`/.exec(given) ?? [];
  return [
    {
      method: method.slice(1, -1),
      path: path.slice(1, -1),
      body: /^[[{]/.test(example) ? example : undefined,
      query: example.startsWith('?') ? example.replace('NAME', 'create') : '',
      reply: /^`([^`]+)`/.exec(reply)?.[1] ?? '',
    },
  ];
});

describe('the admin routes of the sandbox', () => {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox();
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(() => sandbox.close());

  const call = (method: string, path: string, body?: string): Promise<Response> =>
    fetch(`${sandbox.adminUrl}${path}`, { method, ...(body !== undefined && { body }) });

  test('docs/sandbox.md lists all of them, and no others', async () => {
    const app = fastify();
    const found: string[] = [];
    app.addHook('onRoute', ({ method, url }) => {
      if (method !== 'HEAD') found.push(`${String(method)} ${url.replace('/_sandbox', '')}`);
    });
    const core = new SandboxCore(resolveSandboxOptions());
    addAdminRoutes(app, core);
    await app.ready();
    await Promise.all([app.close(), core.close()]);
    expect(found.length).toBeGreaterThan(10);
    expect(DOCUMENTED.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(found.sort());
  });

  test.each(DOCUMENTED)('$method $path replies as it is documented', async ({ reply, ...one }) => {
    const id = await sandbox.newTask();
    await sandbox.admin.addFaults([{ operation: 'poll', action: { type: 'expired' } }]);
    const answered = await call(one.method, one.path.replace(':id', id) + one.query, one.body);
    expect(answered.status).toBe(200);
    const said = (await answered.json()) as object | readonly object[];
    expect(Array.isArray(said)).toBe(reply.startsWith('['));
    const first = [said].flat().at(0) ?? {};
    expect(Object.keys(first)).toEqual(expect.arrayContaining(reply.match(/\w+/g) ?? []));
    if (reply === '[]' || reply === '{}') expect(said).toEqual(JSON.parse(reply));
  });

  test.each<[string, unknown, string]>([
    ['an unknown operation', [{ operation: 'pol', action: { type: 'expired' } }], 'Allowed: create, poll,'],
    ['an unknown action', [{ operation: 'poll', action: { type: 'explode' } }], 'Allowed: status, accept'],
    [
      'an unknown field of a rule',
      [{ operation: 'poll', time: 2, action: { type: 'expired' } }],
      'rule 1 has no field "time". Allowed: operation, promptIncludes, model, taskId, skip, every, times, action.',
    ],
    [
      'an unknown field of an action',
      [
        { operation: 'poll', action: { type: 'expired' } },
        { operation: 'poll', action: { type: 'status', code: 503 } },
      ],
      'rule 2: action has no field "code". Allowed: status, headers, body, raw, contentType, type.',
    ],
    [
      'a field that is missing',
      [{ operation: 'poll', action: { type: 'status' } }],
      'status must be a non-negative number',
    ],
    [
      'an unknown word',
      [{ operation: 'create', action: { type: 'lose_reply', accepted: true, how: 'burn' } }],
      'how is "burn", which is unknown. Allowed: reset, close,',
    ],
    ['no operation', [{ action: { type: 'expired' } }], 'operation is missing. Allowed: create'],
    ['no array', { operation: 'poll' }, 'JSON array'],
  ])(
    'a fault with %s is refused with 400, and none of the rules is added',
    async (_title, rules, message) => {
      const refused = await call('POST', '/faults', JSON.stringify(rules));
      expect(refused.status).toBe(400);
      const { error } = (await refused.json()) as { error: { message: string } };
      expect(error.message).toContain(message);
      expect(await (await call('GET', '/faults')).json()).toEqual([]);
      const added = sandbox.admin.addFaults(rules as FaultRule[]);
      await expect(added).rejects.toThrow(message);
    },
  );

  test('a body that is not JSON is refused too', async () => {
    expect((await call('POST', '/faults', '[{')).status).toBe(400);
  });
});
