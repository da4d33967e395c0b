import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

/** A client that vanishes does not end its session, so the oldest makes room. */
const MOST_SESSIONS = 100;
const LOOPBACK = '127.0.0.1';

/**
 * Serves MCP over streamable HTTP on the loopback interface. Refuses hosts and origins of other names, so that a web page
 * cannot reach the server through a rebound name. Returns its URL.
 * @param port 0 for a free port
 * @param connect returns a server for a new session
 * @throws Error if the port is in use
 */
export async function serveLoopback(port: number, connect: () => McpServer): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer((request, response) => {
    const id = request.headers['mcp-session-id'];
    const known = sessions.get(String(id));
    // With this status, a client starts a new session.
    if (id !== undefined && known === undefined) return void response.writeHead(404).end();
    const serve = async (): Promise<void> => (known ?? (await open())).handleRequest(request, response);
    serve().catch(() => response.destroy());
  });
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableDnsRebindingProtection: true,
      allowedHosts: names,
      allowedOrigins: names.map((name) => `http://${name}`),
      onsessioninitialized: (id) => {
        sessions.set(id, transport);
        const [oldest] = sessions;
        if (sessions.size > MOST_SESSIONS && oldest !== undefined) void oldest[1].close();
      },
    });
    const server = connect();
    server.server.onclose = () => sessions.delete(transport.sessionId ?? '');
    await server.connect(transport);
    return transport;
  };
  http.listen(port, LOOPBACK);
  await once(http, 'listening');
  const bound = (http.address() as AddressInfo).port;
  const names = [`${LOOPBACK}:${bound}`, `localhost:${bound}`];
  return `http://${LOOPBACK}:${bound}/mcp`;
}
