import type { McpServer, Offers } from '../../../src/model/index.ts'
import type { NewSession } from './schema.ts'

/** A session that is open on a connection. */
export interface Session {
  readonly id: string
  readonly cwd: string
  readonly folders: readonly string[]
  readonly mcpServers: readonly McpServer[]
  /** The modes, options and commands that its agent offers. */
  offers: Offers
  /** The model is one of the options, though the agent does not offer it as one: it is set by its name. */
  hasModels: boolean
  readonly numbers: Numbers
}

/** The numbers of a session's prompts, which go on when it is opened again on the same connection. */
export interface Numbers {
  /** Distinguishes the prompts from those of earlier connections. */
  readonly prefix: string
  /** The number of prompts so far. */
  count: number
}

/** A session of which nothing was said yet. */
export function newSession(
  id: string,
  { cwd, additionalDirectories, mcpServers }: NewSession,
  numbers: Numbers = { prefix: '', count: 0 },
): Session {
  return {
    id,
    cwd,
    folders: additionalDirectories ?? [],
    mcpServers: mcpServers ?? [],
    offers: {},
    hasModels: false,
    numbers,
  }
}
