import { Uuids } from '../../../src/codec-kit/index.ts'
import type { FrontContext, FrontPorts } from '../../../src/contract/index.ts'
import type { Fault, Id, Loss, Usage } from '../../../src/model/index.ts'
import { readArguments } from './args.ts'
import type { Arguments, Mode } from './flags.ts'

/** A tool that was refused, as a result lists it. */
export interface Refused {
  name: string
  id: Id
  args: string
}

/** Settings of a client for its session. */
interface Settings {
  /** It sent `initialize`, so it answers questions. */
  initialized: boolean
  model?: string
  effort?: string
  mode: Mode
  /** The number of settings that have no answer yet: a message after one must have it. */
  changing: number
  /** The reason why no turn may run: the arguments ask for a mode that the agent does not apply. */
  refusal?: Fault | undefined
}

/** Sums over the turns of a client so far. */
interface Totals {
  /** The model that the agent has named. */
  model?: string
  /** Tokens; undefined while none is known. */
  usage?: Usage
  readonly refused: Refused[]
  /** The losses of requests outside of turns; they are reported with the next turn. */
  readonly losses: Loss[]
}

/** The state of one client over all its turns. */
export class Client {
  readonly ports: FrontPorts
  readonly args: Arguments
  readonly session: string
  readonly ids: Uuids
  readonly settings: Settings
  readonly totals: Totals = { refused: [], losses: [] }

  constructor(context: FrontContext, ports: FrontPorts) {
    const query = new URLSearchParams(context.query)
    this.ports = ports
    this.args = context.transport === 'http' ? httpArguments(query) : readArguments(context.argv)
    this.ids = new Uuids(ports.newId())
    const named = context.headers['turnpike-session'] || query.get('session')
    this.session = named || this.args.session || this.ids.next()
    const { mode, options } = this.args
    const { model } = options
    this.settings = { initialized: false, ...(model !== undefined && { model }), mode, changing: 0 }
  }

  /** The model for the client; empty when none is known. */
  get model(): string {
    return this.totals.model ?? this.settings.model ?? ''
  }

  /** Writes a line on stderr. */
  warn(text: string): void {
    this.ports.warn(`turnpike as qwen: ${text}`)
  }
}

/** A body is lines of messages, and so is its answer; pieces of messages are asked for in the query. */
function httpArguments(query: URLSearchParams): Arguments {
  const partial = query.has('include-partial-messages')
  return { ...readArguments([]), input: 'stream-json', output: 'stream-json', partial }
}
