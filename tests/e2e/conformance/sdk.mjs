// The public SDK of both eras, from the folder that MCP_MODULES names.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const modules = process.env.MCP_MODULES;
if (!modules) throw new Error('MCP_MODULES names no folder with @modelcontextprotocol/server');
export const load = (path) => import(pathToFileURL(join(modules, '@modelcontextprotocol', path)).href);

export const {
  McpServer, ResourceTemplate, ResourceNotFoundError, ProtocolError, ProtocolErrorCode, WebStandardStreamableHTTPServerTransport,
  acceptedContent, createMcpHandler, createRequestStateCodec, fromJsonSchema, inputRequired, inputResponse, isLegacyRequest,
} = await load('server/dist/index.mjs');
export const { serveStdio, StdioServerTransport } = await load('server/dist/stdio.mjs');
