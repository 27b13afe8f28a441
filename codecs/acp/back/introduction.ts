import type { JsonText } from '../../../src/model/index.ts'
import { NAME, PROTOCOL_VERSION } from '../wire.ts'

const INFO = `{"name":"${NAME}","title":"Turnpike","version":"0.0.0"}`

/** The methods that each setting of `client` allows (File System). */
export const FILE_METHODS = {
  none: [],
  read: ['fs/read_text_file'],
  workspace: ['fs/read_text_file', 'fs/write_text_file'],
} as const

/** The parameters of `initialize`: the version, and what this client does; `files` are the methods for files (Initialization). */
export function introduction(files: readonly string[]): JsonText {
  const fs = `{"readTextFile":${files.length > 0},"writeTextFile":${files.length > 1}}`
  const session = '"session":{"compaction":{},"configOptions":{"boolean":{}},"notices":{}}'
  const client = `{"fs":${fs},"terminal":false,${session},"elicitation":{"form":{},"url":{}},"_meta":{"terminal_output":true}}`
  return `{"protocolVersion":${PROTOCOL_VERSION},"clientCapabilities":${client},"clientInfo":${INFO}}`
}
