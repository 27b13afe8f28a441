import { type AgentRun, FOLDER, RUN_ID, type SeenLine, type Suite } from './kit/index.ts'

/** The sources of the values of placeholders. */
export interface Sources {
  /** The value of `RUN_ID`. */
  readonly id: string
  /** The value of `FOLDER`; absent for agents that are servers. */
  readonly folder?: string
  /** The values that the caller gives, by placeholder. */
  readonly values: Readonly<Record<string, string>>
  /** Finds the values that the suite does not give, in the agent's lines so far and in earlier runs. */
  readonly found: NonNullable<Suite['values']>
  readonly lines: readonly SeenLine[]
  readonly earlier: readonly AgentRun[]
}

/** A text with its placeholders filled; `encode` is done to values, which stand between quotes of JSON when it is absent. */
export function filled(text: string, sources: Sources, encode: (value: string) => string = inJson): string {
  const { id, folder, values, found, lines, earlier } = sources
  let all = text.replaceAll(RUN_ID, id)
  if (folder !== undefined) all = all.replaceAll(FOLDER, () => encode(folder))
  for (const [name, find] of Object.entries(found)) {
    if (!all.includes(name)) continue
    const value = values[name] ?? find(lines, earlier) ?? ''
    all = all.replaceAll(name, () => encode(value))
  }
  return all
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
