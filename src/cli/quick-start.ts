import { configFile } from './config-file.ts'
import { writeConfig } from './new-config.ts'
import { findAgents } from './programs.ts'
import { serveCommand } from './serve.ts'

/**
 * `turnpike` without a command: serves. When there is no configuration, but there are agents that it knows, it first
 * runs `turnpike init`; a user who declines gets the example agents, as when no agent is installed.
 */
export async function quickStartCommand(args: string[]): Promise<number> {
  const hasFile = configFile(undefined) !== undefined || args.some((argument) => /^--config(=|$)/.test(argument))
  const asks = !hasFile && findAgents(process.env['PATH'] ?? '').length > 0
  const written = asks ? await writeConfig([]) : undefined
  return serveCommand(args, written !== undefined)
}
