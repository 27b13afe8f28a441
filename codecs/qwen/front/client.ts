import type { FrontContext, FrontPorts } from '../../../src/contract/index.ts'
import { type Members, quote, type TurnOptions } from '../../../src/model/index.ts'
import { type Format, PROTOCOL_VERSION } from '../wire.ts'
import { type Arguments, readArguments, readQuery } from './args.ts'
import { AskIds } from './ask-ids.ts'
import { Sessions } from './sessions.ts'

/** The abilities of this implementation, as the first completion lists them. */
const ABILITIES = ['commands', 'command_hint', 'heartbeat', 'cancel', 'annotations'] as const
/** More of it, where the client can answer on the same wire. */
const CONTROL_ABILITIES = ['can_use_tool', 'hook_callback', 'mcp_message', 'tool_response'] as const

/** The formats of one wire, settled by its first request. */
interface Formats {
  input: Format
  output: Format
  /** True when the client can answer questions. */
  control: boolean
}

/** One client: its arguments, its sessions, and the abilities of its wire. */
export class Client {
  readonly ports: FrontPorts
  readonly args: Arguments
  readonly sessions: Sessions
  readonly askIds = new AskIds()
  readonly transport: FrontContext['transport']
  /** True when the input is text; unknown before its first line. */
  textInput: boolean | undefined
  /** The output format that the first request asks for. */
  wished: Format | undefined
  /** The client can send no answers to questions any more. */
  ended = false
  exitCode = 0
  /** The time of the last event, in milliseconds since the epoch. */
  lastAt = 0
  #formats: Formats | undefined
  #greeted = false

  constructor(context: FrontContext, ports: FrontPorts) {
    this.ports = ports
    this.transport = context.transport
    this.args = context.transport === 'stdio' ? readArguments(context.argv) : readQuery(context)
    this.sessions = new Sessions(this.args.session, () => ports.newId())
  }

  /** The formats of the wire, which do not change after they were first asked for. */
  get formats(): Formats {
    this.#formats ??= this.#settle()
    return this.#formats
  }

  /** True once the formats are settled. */
  get settled(): boolean {
    return this.#formats !== undefined
  }

  /** True when answers are plain text. */
  get text(): boolean {
    return this.formats.output === 'text'
  }

  get abilities(): readonly string[] {
    return this.formats.control ? [...ABILITIES, ...CONTROL_ABILITIES] : ABILITIES
  }

  /** The options of every request that sets none itself. */
  get defaults(): TurnOptions {
    const { model, systemPrompt } = this.args
    return { ...(model !== undefined && { model }), ...(systemPrompt !== undefined && { systemPrompt }) }
  }

  /** Milliseconds since the epoch. */
  get at(): number {
    return this.ports.now?.() ?? this.lastAt
  }

  /** The description of this implementation for the `metadata` of the first completion; it is written once: undefined then. */
  greeting(): Members | undefined {
    if (this.#greeted) return undefined
    this.#greeted = true
    return {
      protocol_version: quote(PROTOCOL_VERSION),
      input_format: quote(this.formats.input),
      output_format: quote(this.formats.output),
      capabilities: `[${this.abilities.map(quote).join(',')}]`,
    }
  }

  /** Writes a line on stderr. */
  warn(text: string): void {
    this.ports.warn(`turnpike as qwen: ${text}`)
  }

  #settle(): Formats {
    const { input = this.textInput ? 'text' : 'stream-json', output = this.wished } = this.args
    const format = output ?? (this.transport === 'stdio' ? 'text' : 'stream-json')
    return { input, output: format, control: this.transport !== 'http' && input !== 'text' && format !== 'text' }
  }
}
