import { dropped, type Report, weakened } from '../../../src/codec-kit/index.ts'
import {
  append,
  type ClientTool,
  type JsonText,
  type McpServer,
  object,
  quote,
  type TurnStart,
} from '../../../src/model/index.ts'
import { texts } from './server.ts'

/** The parameters of a thread that a turn begins or continues. `folder` is that of the agent's process. */
export function openingParams(
  { cwd, folders = [], mcpServers = [], options }: TurnStart,
  folder: string | undefined,
  report: Report,
): JsonText {
  const servers = mcpServers.flatMap((server) => serverEntry(server, report))
  const roots = [cwd ?? folder, ...folders].filter((path) => path !== undefined)
  return append(
    texts({ developerInstructions: options.systemPrompt, cwd }),
    object({
      runtimeWorkspaceRoots: folders.length === 0 ? undefined : JSON.stringify(roots),
      config: servers.length === 0 ? undefined : object({ mcp_servers: object(servers) }),
    }),
  )
}

/** An MCP server as the agent's configuration has it, which knows programs and streamable HTTP. */
function serverEntry(server: McpServer, report: Report): [name: string, json: JsonText][] {
  if (server.type === 'stdio') {
    const [command, ...args] = server.command
    return [[server.name, JSON.stringify({ command, args, env: server.env })]]
  }
  if (server.type === 'http') return [[server.name, JSON.stringify({ url: server.url, http_headers: server.headers })]]
  report(dropped('start.mcpServers', server.type))
  return []
}

/** The tools of a client as those that the agent calls through the gateway; only functions are. */
export function toolsJson(tools: readonly ClientTool[], report: Report): JsonText {
  const specs = tools.flatMap(({ kind, namespace, name, description = '', schema = '{"type":"object"}', ext }) => {
    if (kind !== undefined) {
      report(dropped('start.clientTools', kind))
      return []
    }
    if (ext) report(weakened('start.clientTools', name))
    return object({
      type: '"function"',
      name: quote(namespace === undefined ? name : `${namespace}__${name}`),
      description: quote(description),
      inputSchema: schema,
    })
  })
  return `[${specs.join(',')}]`
}
