import { type Ext, type Id, type JsonText, type Members, members, quote } from '../../../src/model/index.ts'
import type { ToolUpdate } from '../update-schema.ts'
import { entriesExt } from '../wire.ts'

/** A tool call of the turn that has not ended. */
export interface Call {
  readonly tool: Id
  readonly name: string
  /** The members that clients are shown, as the agent wrote them last. */
  readonly about: { [K in (typeof ABOUT)[number]]?: string | null | undefined }
  /** Its arguments, as the agent wrote them last. */
  args: JsonText
  /** The arguments that clients were shown last; undefined before the call runs. */
  reported: JsonText | undefined
  /** The client refused it. */
  denied: boolean
  /** Its content as the agent wrote it last, and the text of it that was shown. */
  content: JsonText | undefined
  shown: string
  /** The output of its terminal; undefined unless the agent runs the terminal itself and sends its output. */
  terminal: string | undefined
  /** Further fields of the last update. */
  ext: JsonText | undefined
}

/** The members of a call that its agent may change. */
const ABOUT = ['name', 'title', 'kind'] as const

/**
 * Takes over the members of a call that an update changes for its clients, such as its title, or the arguments with which
 * it runs. Returns them.
 */
export function changesOf(call: Call, update: ToolUpdate): Members {
  const changed: Record<string, JsonText> = {}
  for (const key of ABOUT) {
    const value = update[key]
    if (!value || value === call.about[key]) continue
    call.about[key] = value
    changed[key] = quote(value)
  }
  if (call.reported !== undefined && call.reported !== call.args) {
    call.reported = call.args
    changed['rawInput'] = call.args
  }
  return changed
}

/** The further members of an update, with those that it changes: clients of this protocol take both. */
export function extWith(changed: Members, ext: Ext | undefined): Ext | undefined {
  return Object.keys(changed).length === 0 ? ext : entriesExt(changed, members(ext?.json ?? '{}'))
}
