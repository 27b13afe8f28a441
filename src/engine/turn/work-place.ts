import type { Command, Item, Loss, TurnStart } from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'

/**
 * The command without the folders and MCP servers of its client that its agent is not to have; each is a loss. Folders
 * of a process are allowed below its own one and in its `workspaces`, servers where the agent is configured so. An
 * agent behind a URL works elsewhere, and judges them itself.
 */
export function withAllowedPlace(
  command: Command & TurnStart,
  { context: { process }, workspaces, clientMcpServers, backend }: AgentSettings,
  report: (loss: Loss) => void,
): Command & TurnStart {
  const { cwd, folders, mcpServers } = command
  if (!process || (cwd === undefined && !folders && !mcpServers)) return command
  const roots = [process.cwd, ...(workspaces ?? [])]
  const isNamed = (path: string): boolean => roots.some((root) => isBelow(path, root))
  const isAllowed = (path: string): boolean => isNamed(path) && backend.isWithin?.(path, roots) !== false
  const refused = (item: Item, count: number): void => {
    if (count > 0) report({ kind: 'dropped', item, why: 'policy', count })
  }
  const { cwd: _cwd, folders: _folders, mcpServers: _servers, ...rest } = command
  const kept = folders?.filter(isAllowed) ?? []
  const isThere = cwd !== undefined && (workspaces ? isNamed(cwd) : isAllowed(cwd))
  refused('start.cwd', cwd === undefined || isThere ? 0 : 1)
  refused('start.folders', (folders?.length ?? 0) - kept.length)
  refused('start.mcpServers', clientMcpServers ? 0 : (mcpServers?.length ?? 0))
  return {
    ...rest,
    ...(isThere && { cwd }),
    ...(kept.length > 0 && { folders: kept }),
    ...(clientMcpServers && mcpServers && { mcpServers }),
  }
}

/** True for a path that is the root or below it, compared as text; a path with `..` is not. */
function isBelow(path: string, root: string): boolean {
  const base = root.endsWith('/') ? root : `${root}/`
  return !path.split('/').includes('..') && (path === root || path.startsWith(base))
}
