/**
 * The engine's small parts for unit tests: a protocol whose frames are canonical events and commands as JSON, agents
 * that are shell scripts speaking it, a client's wire that notes what it is given, and turns made of these.
 */
import { processBackend } from '../../src/backends/index.ts'
import {
  type Answer,
  type AnyCodec,
  type BackDialect,
  type Capabilities,
  capabilities,
  type FrontDialect,
  frameText,
  type Limits,
  type Memory,
  type Route,
  silentHooks,
  type TurnInfo,
} from '../../src/contract/index.ts'
import { Breakers } from '../../src/engine/agent/breakers.ts'
import type { ClientOptions } from '../../src/engine/client/client-options.ts'
import { Exchange, type ExchangeHost } from '../../src/engine/client/exchange.ts'
import type { AgentSettings, EngineLog } from '../../src/engine/common/index.ts'
import { Turn } from '../../src/engine/turn/turn.ts'
import { TurnClock } from '../../src/engine/turn/turn-clock.ts'
import type { TurnPeers, TurnRecorder, TurnSession } from '../../src/engine/turn/turn-peers.ts'
import { TurnRun } from '../../src/engine/turn/turn-run.ts'
import {
  type Command,
  type Fault,
  ITEMS,
  type LinkEvent,
  type Loss,
  type TextRun,
  type TurnEvent,
  type TurnStart,
} from '../../src/model/index.ts'

/** Every item. */
export const ALL: Capabilities = capabilities({ full: ITEMS })

export const LIMITS: Limits = {
  start: 10_000,
  firstEvent: 20_000,
  idle: 30_000,
  total: 60_000,
  ask: 5000,
  grace: 100,
  line: 65_536,
  body: 65_536,
  answer: 1_048_576,
  queue: 2,
}

/** The options of the plain protocol's back half. */
export interface PlainBack {
  /** Its process lives over many turns. */
  persistent?: boolean
  memory?: Memory
  able?: Capabilities
}

/** A dialect whose agents read commands and write events, one JSON text a line. */
export function plainBack({ persistent = false, memory = 'process', able = ALL }: PlainBack = {}): BackDialect {
  return {
    wireVersion: '1',
    framing: 'ndjson',
    back: {
      capabilities: able,
      memory: () => memory,
      open(_context, ports) {
        const start = (): void => ports.open({ kind: 'process', stdin: 'open' })
        return {
          ...(persistent && { open: start }),
          encode(command) {
            if (!persistent && command.type === 'turn-start') start()
            ports.send(JSON.stringify(command))
          },
          decode: (frame) => ports.emit(JSON.parse(frameText(frame))),
          decodeEnd() {},
        }
      },
    },
  }
}

/** A line of an agent's script that says an event. */
export function say(event: object): string {
  return `echo '${JSON.stringify(event)}'`
}

/** The script of an agent that is ready, and does this for each command; `$line` is the command. */
export function serving(each: string, model = 'm1'): string {
  return `${say({ turn: null, type: 'agent-ready', model })}; while read -r line; do ${each || ':'}; done`
}

/** A completed turn `t`. */
export const DONE = say({ turn: 't', type: 'turn-end', outcome: 'completed' })

/** An agent that is a shell script and speaks the plain protocol. */
export function plainAgent(script: string, more: Partial<AgentSettings> = {}, back: PlainBack = {}): AgentSettings {
  const command = '/bin/sh'
  return {
    name: 'plain',
    protocol: 'plain',
    dialect: plainBack(back),
    backend: processBackend({ command, args: ['-c', script], cwd: '/', env: {}, hostEnv: process.env }),
    context: { options: {}, agent: 'plain', env: {}, folder: '/' },
    redact: (text) => text,
    target: { kind: 'process', command },
    limits: LIMITS,
    pool: { warm: 0, max: 1, idle: 60_000 },
    restore: 'fresh',
    breaker: { failures: 2, cooldown: 1000 },
    ...more,
  }
}

/** A client's wire that notes what its exchanges are given. */
export class PlainHost implements ExchangeHost {
  readonly capabilities: Capabilities
  readonly events: TurnEvent[] = []
  readonly faults: Fault[] = []
  readonly replies: LinkEvent[] = []
  readonly over: Exchange[] = []
  writesTexts = true
  readonly client = { clogged: false, inputClosed: false, refused: false, leavesAsks: false }

  constructor(able: Capabilities = ALL) {
    this.capabilities = able
  }

  encode(event: TurnEvent): void {
    this.events.push(event)
  }

  encodeTexts({ events }: TextRun): void {
    this.events.push(...events)
  }

  encodeFault(fault: Fault): void {
    this.faults.push(fault)
  }

  encodeLink(event: LinkEvent): void {
    this.replies.push(event)
  }

  ended(exchange: Exchange): void {
    this.over.push(exchange)
  }

  /** The types of the events that came. */
  get types(): string[] {
    return this.events.map(({ type }) => type)
  }
}

export const ANSWER: Answer = { form: 'stream', framing: 'ndjson', onDisconnect: 'cancel', asks: 'inline' }

export function start(more: Partial<Command & TurnStart> = {}, exchange = 'x'): Command & TurnStart {
  return {
    exchange,
    session: { id: 's' },
    type: 'turn-start',
    turn: 't',
    task: 'prompt',
    input: [{ type: 'text', text: 'hi' }],
    options: {},
    ...more,
  }
}

export const ROUTE: Route = {
  when: {},
  agent: 'plain',
  fallback: [],
  approvals: 'deny',
  loss: 'report',
  journal: 'full',
  secrets: 'keep',
  busy: 'queue',
  history: 'resume',
}

/** The options of a turn. */
export interface PlainTurn {
  host?: PlainHost
  answer?: Partial<Answer>
  command?: Command & TurnStart
  agent?: AgentSettings
  route?: Partial<Route>
  /** What of its parts is not to be a stand-in that only notes what it is told. */
  recorder?: Partial<TurnRecorder<Turn>>
  session?: Partial<TurnSession<Turn>>
  peers?: Partial<TurnPeers<Turn>>
  others?: readonly AgentSettings[]
  now?: () => number
  /** What the client's front could not read of its request. */
  requestLosses?: readonly Loss[]
}

/** A turn of one exchange, and what its parts were told, by the method's name. */
export function plainTurn({
  host = new PlainHost(),
  answer = {},
  command = start(),
  agent = plainAgent(''),
  route = {},
  recorder = {},
  session = {},
  peers = {},
  others = [],
  now = () => 5,
  requestLosses = [],
}: PlainTurn = {}): {
  turn: Turn
  run: TurnRun
  host: PlainHost
  exchange: Exchange
  told: [what: string, about: unknown][]
} {
  const told: [string, unknown][] = []
  const exchange = new Exchange(command, { ...ANSWER, ...answer }, host)
  for (const loss of requestLosses) exchange.lost(loss)
  const info: TurnInfo = { turn: command.turn, agent: agent.name, back: agent.protocol, session: 's' }
  const request = silentHooks.request({ transport: 'stdio', front: 'plain', method: '', path: '', carrier: {} })
  const inner = { ...request.turn(info), loss: (loss: Loss) => void told.push(['loss', loss]) }
  const scope = new TurnClock({ inner, info, front: 'plain', now, changed() {} })
  const note = (what: string, about?: unknown): void => void told.push([what, about])
  const stood: TurnSession<Turn> = {
    asOf: undefined,
    record: { id: 'kept', tenant: 'local', agent: 'plain', session: 's', conversation: '', createdAt: 1, usedAt: 1 },
    abandon: () => note('abandon'),
    rebind: () => 'fresh',
    lost: async () => ({ names: { id: 's' }, settings: {} }),
    ...session,
  }
  // A session of its own kind is taken as it is.
  const of = 'abandon' in session ? (session as TurnSession<Turn>) : stood
  const turnPeers: TurnPeers<Turn> = {
    recorder: {
      event: (_turn, event) => note('event', event.type),
      texts: (_turn, run) => note('texts', run.length),
      steered: (_turn, parts) => note('steered', parts),
      confirm: () => true,
      keeps: () => true,
      events: async () => [],
      end: (turn) => note('end', turn.view.end?.outcome),
      delivered: (turn) => note('delivered', turn),
      ...recorder,
    },
    breakers: new Breakers(() => 0),
    turns: { delete() {} },
    figures: { ended() {} },
    failover: { move: (turn) => note('move', turn.agent.name) },
    log: notingLog(note),
    ...peers,
  }
  const init = { command, agents: [agent, ...others], route: { ...ROUTE, ...route }, session: of, exchange, scope }
  let run: TurnRun | undefined
  const turn = new Turn(init, turnPeers, (of) => {
    run = new TurnRun(of, others)
    return run
  })
  return { turn, run: run!, host, exchange, told }
}

/** A log that notes each message, with its fields. */
export function notingLog(note: (message: string, fields?: unknown) => void): EngineLog {
  return { debug: note, info: note, warn: note, error: note }
}

/** A log that nobody reads. */
export const SILENT_LOG: EngineLog = notingLog(() => {})

/** A client's wire of the plain protocol: lines that are commands in, types and outcomes of events out. */
export function plainWire(): { options: ClientOptions; answered: Promise<string> } {
  const { promise: answered, resolve } = Promise.withResolvers<string>()
  let text = ''
  const dialect: FrontDialect = {
    wireVersion: '1',
    framing: 'ndjson',
    front: {
      capabilities: ALL,
      env: [],
      open: (_context, ports) => ({
        decode: (frame) => ports.command(JSON.parse(frameText(frame)), ANSWER),
        encode(event) {
          ports.send(JSON.stringify(event))
          if (event.type === 'turn-end') ports.close(0)
        },
        encodeFault(found) {
          ports.send(JSON.stringify(found))
          ports.close(1)
        },
      }),
    },
  }
  const options: ClientOptions = {
    front: {
      name: 'plain',
      codec: { name: 'plain', errors: new Proxy({}, { get: (_of, code) => ({ code, http: 500 }) }) } as AnyCodec,
      dialect,
    },
    context: { transport: 'stdio', method: '', path: '', query: '', headers: {}, argv: [], env: {} },
    input: 'ndjson',
    sink: {
      head() {},
      write: (more) => {
        text += more
        return true
      },
      whenRead: (callback) => callback(),
      warn() {},
      end: () => resolve(text),
      abort: () => resolve(text),
    },
    carrier: {},
    access: { tenant: 'local', role: 'user' },
  }
  return { options, answered }
}
