import { dropped, type Report } from '../../../src/codec-kit/index.ts'
import { type JsonText, type McpServer, type Members, object, quote, type TurnStart } from '../../../src/model/index.ts'
import type { Connection } from './connection.ts'

/** The folders that a session works in, and its servers, as parameters of the request that opens it. */
export interface Place {
  readonly cwd: string
  readonly folders: readonly string[]
  readonly entries: Members
}

/** The place in which a client works. */
export type Wished = Pick<TurnStart, 'cwd' | 'folders' | 'mcpServers'>

/**
 * The place of a session: as the agent is configured, and as its client wishes if the agent can do that. `report` gets
 * the wishes that it cannot fulfil.
 */
export function placeOf(connection: Connection, wished: Wished, report: Report): Place {
  const { options, process, folder } = connection.context
  const cwd = wished.cwd ?? process?.cwd ?? folder
  const folders = [...options.folders, ...(wished.folders ?? [])]
  const takesFolders = connection.offers('additionalDirectories')
  if (folders.length > 0 && !takesFolders) report(dropped('start.folders', undefined, 'unknown'))
  const servers = serversOf(connection, wished.mcpServers ?? [], report)
  return {
    cwd,
    folders,
    entries: {
      cwd: quote(cwd),
      mcpServers: `[${servers.join(',')}]`,
      additionalDirectories: folders.length > 0 && takesFolders ? JSON.stringify(folders) : undefined,
    },
  }
}

/** True for places that a session cannot distinguish. */
export function samePlace(one: Place, other: Place): boolean {
  return object(one.entries) === object(other.entries)
}

function serversOf({ context, about }: Connection, wished: readonly McpServer[], report: Report): JsonText[] {
  const own = context.options.mcp_servers.map((server): McpServer => {
    return 'url' in server ? server : { ...server, type: 'stdio' }
  })
  const can = about?.agentCapabilities?.mcpCapabilities
  return [...own, ...wished].flatMap((server) => {
    if (server.type === 'stdio' || can?.[server.type] === true) return serverJson(server)
    report(dropped('start.mcpServers', server.type, 'unknown'))
    return []
  })
}

function serverJson(server: McpServer): JsonText {
  const name = quote(server.name)
  if (server.type !== 'stdio') {
    return object({ type: quote(server.type), name, url: quote(server.url), headers: pairs(server.headers) })
  }
  const [command = '', ...args] = server.command
  return object({ name, command: quote(command), args: JSON.stringify(args), env: pairs(server.env) })
}

function pairs(record: Readonly<Record<string, string>>): JsonText {
  return JSON.stringify(Object.entries(record).map(([name, value]) => ({ name, value })))
}
