import { flatToolName } from '../../src/codec-kit/index.ts'
import type { ClientTool } from '../../src/model/index.ts'

/** The client's tools by the name that calls of them have in the model: that of their group is part of it. */
export class DeclaredTools {
  #tools: ReadonlyMap<string, ClientTool>

  constructor(tools: readonly ClientTool[] = []) {
    this.#tools = byName(tools)
  }

  /** Declares these tools instead of those before. */
  declare(tools: readonly ClientTool[] = []): void {
    this.#tools = byName(tools)
  }

  /** The tool of a call; undefined when no client has declared it. */
  get(name: string): ClientTool | undefined {
    return this.#tools.get(name)
  }
}

function byName(tools: readonly ClientTool[]): ReadonlyMap<string, ClientTool> {
  return new Map(tools.map((tool) => [flatToolName(tool), tool]))
}

/** The type of a call of a tool in Chat Completions, and the member that has its arguments. */
export function formOf(tool: ClientTool | undefined): readonly [type: string, given: string] {
  return tool?.kind === 'custom' ? ['custom', 'input'] : ['function', 'arguments']
}
