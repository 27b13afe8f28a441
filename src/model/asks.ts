import type { JsonText } from './json.ts'
import type { Ext, Id, Part } from './parts.ts'
import type { ToolStatus } from './words.ts'

/** The kind of a question. */
export type AskKind = 'approval' | 'input' | 'client' | 'tool'

/** One choice of an approval, with the agent's own id. */
export interface AskOption {
  id: string
  kind: 'allow' | 'deny'
  scope: 'once' | 'session' | 'always'
  label?: string
}

/** A question of an agent to its client. `editable`: the agent takes changed arguments with consent. */
export type Question =
  | {
      kind: 'approval'
      tool?: Id
      name: string
      args: JsonText
      description?: string
      options: readonly AskOption[]
      editable?: true
    }
  | { kind: 'input'; tool?: Id; message: string; schema?: JsonText }
  | { kind: 'client'; method: string; params: JsonText }
  | { kind: 'tool'; tool: Id }

/** The answer to a question, of the same kind. `ext` has the fields of a result that the model has no place for. */
export type AskReply =
  | { kind: 'approval'; option: string; edited?: JsonText; message?: string; stopTurn?: true }
  | { kind: 'input'; values: JsonText }
  | { kind: 'client'; result?: JsonText; error?: JsonText }
  | { kind: 'tool'; status: ToolStatus; parts: readonly Part[]; ext?: Ext }

/** An open question. `deadline` is milliseconds since the epoch. */
export interface Ask {
  ask: Id
  question: Question
  deadline?: number
}

/** True for at most one consent and one refusal, both for this once: all that a client of several protocols can choose from. */
export function isPlainChoice(options: readonly AskOption[]): boolean {
  const kinds = new Set(options.map(({ kind }) => kind))
  return kinds.size === options.length && options.every(({ scope }) => scope === 'once')
}

/** The option of this kind that decides the least: the first for this once, else the first of the kind. */
export function narrowestOption(options: readonly AskOption[], kind: AskOption['kind']): AskOption | undefined {
  const fitting = options.filter((option) => option.kind === kind)
  return fitting.find(({ scope }) => scope === 'once') ?? fitting[0]
}
