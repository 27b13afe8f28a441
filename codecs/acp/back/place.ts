import { dropped, type Entry } from '../../../src/codec-kit/index.ts'
import { type JsonText, type Loss, type McpServer, object, quote, type TurnStart } from '../../../src/model/index.ts'
import type { Connection } from './connection.ts'

/** The folders that a session works in, and the servers that it has, as the parameters that open it say it. */
export interface Place {
  readonly cwd: string
  readonly folders: readonly string[]
  readonly entries: readonly Entry[]
}

/** The place in which a client works. */
export type Wished = Pick<TurnStart, 'cwd' | 'folders' | 'mcpServers'>

/**
 * The place of a session: as the agent is configured, and as its client wishes where that is allowed and the agent is
 * able. `report` gets what is not.
 */
export function placeOf(connection: Connection, wished: Wished, report: (loss: Loss) => void): Place {
  const { options, process, folder } = connection.context
  const configured = process?.cwd ?? folder
  const roots = options.roots ?? [configured]
  const isAllowed = (path: string): boolean => roots.some((root) => isBelow(path, root))
  const cwd = wished.cwd !== undefined && isAllowed(wished.cwd) ? wished.cwd : configured
  if (wished.cwd !== undefined && cwd !== wished.cwd) report(dropped('start.cwd', undefined, 'policy'))
  const others = wished.folders ?? []
  const folders = [...options.folders, ...others.filter(isAllowed)]
  const refused = others.filter((path) => !isAllowed(path)).length
  if (refused > 0) report({ ...dropped('start.folders', undefined, 'policy'), count: refused })
  const takesFolders = connection.offers('additionalDirectories')
  if (folders.length > 0 && !takesFolders) report(dropped('start.folders', undefined, 'unknown'))
  const servers = serversOf(connection, wished.mcpServers ?? [], report)
  return {
    cwd,
    folders,
    entries: [
      ['cwd', quote(cwd)],
      ['mcpServers', `[${servers.join(',')}]`],
      ['additionalDirectories', folders.length > 0 && takesFolders ? JSON.stringify(folders) : undefined],
    ],
  }
}

/** True for a path that is the root or below it, by its words; one with `..` is none. */
function isBelow(path: string, root: string): boolean {
  const base = root.endsWith('/') ? root : `${root}/`
  return !path.split('/').includes('..') && (path === root || path.startsWith(base))
}

function serversOf(
  { context, about }: Connection,
  wished: readonly McpServer[],
  report: (loss: Loss) => void,
): JsonText[] {
  const { mcp_servers: configured, client_mcp_servers: open } = context.options
  if (wished.length > 0 && !open) {
    report({ ...dropped('start.mcpServers', undefined, 'policy'), count: wished.length })
  }
  const own = configured.map((server): McpServer => {
    return 'url' in server ? server : { ...server, type: 'stdio' }
  })
  const can = about?.agentCapabilities?.mcpCapabilities
  return [...own, ...(open ? wished : [])].flatMap((server) => {
    if (server.type === 'stdio' || can?.[server.type] === true) return serverJson(server)
    report(dropped('start.mcpServers', server.type, 'unknown'))
    return []
  })
}

function serverJson(server: McpServer): JsonText {
  const name: Entry = ['name', quote(server.name)]
  if (server.type !== 'stdio') {
    return object([['type', quote(server.type)], name, ['url', quote(server.url)], ['headers', pairs(server.headers)]])
  }
  const [command = '', ...args] = server.command
  return object([name, ['command', quote(command)], ['args', JSON.stringify(args)], ['env', pairs(server.env)]])
}

function pairs(record: Readonly<Record<string, string>>): JsonText {
  return JSON.stringify(Object.entries(record).map(([name, value]) => ({ name, value })))
}
