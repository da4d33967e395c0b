/**
 * @module The program `temporal-media-mcp`, an MCP server over stdio or, with `--http`, over HTTP on this machine.
 */
import { parseArgs } from 'node:util';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CliError, failureOf } from '@temporal-media/cli/internal/shared/errors';
import { EXIT } from '@temporal-media/cli/internal/shared/exit-codes';
import { AgentCalls } from './agent-calls';
import { serveLoopback } from './loopback-http';
import { createMcpServer } from './mcp-server';

const HELP = `Usage: temporal-media-mcp [options]

An MCP server with tools to price, create, look at and fetch videos and images. It reads the environment of
temporal-media (TEMPORAL_ADDRESS, MEDIA_TASK_QUEUE, MEDIA_MODELS, MEDIA_DATA_DIR) and needs no API key.

  --max-spend <amount>  highest estimate that a person need not confirm: 0.50, 0.50USD (default: MEDIA_MAX_SPEND, or 0)
  --out <dir>           folder for files (default: results in MEDIA_DATA_DIR)
  --http <port>         serve streamable HTTP on 127.0.0.1 instead of stdio
`;

function readOptions() {
  const text = { type: 'string' } as const;
  const options = { 'max-spend': text, out: text, http: text, help: { type: 'boolean' } } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    const hint = '`temporal-media-mcp --help` lists the options.';
    throw new CliError('usage', (error as Error).message, { hint });
  }
}

async function main(): Promise<void> {
  const { 'max-spend': maxSpend, out, http, help } = readOptions();
  if (help === true) return void process.stdout.write(HELP);
  const calls = new AgentCalls({ env: process.env, maxSpend, out });
  if (http !== undefined) {
    const url = await serveLoopback(Number(http), () => createMcpServer(calls));
    return void process.stderr.write(`MCP server: ${url}\n`);
  }
  // The client has gone. What it started continues in Temporal.
  process.stdin.on('end', () => process.exit(EXIT.done));
  await createMcpServer(calls).connect(new StdioServerTransport());
}

main().catch((error: unknown) => {
  const { exitCode, reply } = failureOf(error);
  process.stderr.write(`error: ${reply.message}\nhint: ${reply.hint}\n`, () => process.exit(exitCode));
});
