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
  frameText,
  type Limits,
  type Memory,
  type Route,
  silentHooks,
  type TurnInfo,
} from '../../src/contract/index.ts'
import { Exchange, type ExchangeHost } from '../../src/engine/client/exchange.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import { Turn } from '../../src/engine/turn/turn.ts'
import { TurnClock } from '../../src/engine/turn/turn-clock.ts'
import type { TurnOwner } from '../../src/engine/turn/turn-state.ts'
import {
  type Command,
  type Fault,
  ITEMS,
  type LinkEvent,
  type Loss,
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
    codec: {} as AnyCodec,
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
  readonly ended: Exchange[] = []
  gone = false
  clogged = false
  inputClosed = false

  constructor(able: Capabilities = ALL) {
    this.capabilities = able
  }

  encode(event: TurnEvent): void {
    this.events.push(event)
  }

  encodeFault(fault: Fault): void {
    this.faults.push(fault)
  }

  encodeLink(event: LinkEvent): void {
    this.replies.push(event)
  }

  exchangeEnded(exchange: Exchange): void {
    this.ended.push(exchange)
  }

  /** The types of the events that came. */
  get types(): string[] {
    return this.events.map(({ type }) => type)
  }
}

export const ANSWER: Answer = { form: 'stream', framing: 'ndjson', onDisconnect: 'cancel', asks: 'inline' }

export function start(more: Partial<TurnStart> = {}, exchange = 'x'): Command & TurnStart {
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
}

/** The options of a turn. */
export interface PlainTurn {
  host?: PlainHost
  answer?: Partial<Answer>
  command?: Command & TurnStart
  agent?: AgentSettings
  route?: Partial<Route>
  owner?: Partial<TurnOwner>
  now?: () => number
  /** What the client's front could not read of its request. */
  requestLosses?: readonly Loss[]
}

/** A turn of one exchange, and what its owner was told, by the method's name. */
export function plainTurn({
  host = new PlainHost(),
  answer = {},
  command = start(),
  agent = plainAgent(''),
  route = {},
  owner: more = {},
  now = () => 5,
  requestLosses = [],
}: PlainTurn = {}): { turn: Turn; host: PlainHost; exchange: Exchange; told: [what: string, about: unknown][] } {
  const told: [string, unknown][] = []
  const exchange = new Exchange(command, { ...ANSWER, ...answer }, host)
  for (const loss of requestLosses) exchange.lost(loss)
  const info: TurnInfo = { turn: command.turn, agent: agent.name, back: agent.protocol, session: 's' }
  const request = silentHooks.request({ transport: 'stdio', front: 'plain', method: '', path: '', carrier: {} })
  const inner = { ...request.turn(info), loss: (loss: Loss) => void told.push(['loss', loss]) }
  const scope = new TurnClock({ inner, info, front: 'plain', now, changed() {} })
  const owner: TurnOwner = {
    now,
    record: (_turn, event) => void told.push(['record', event.type]),
    keeps: () => true,
    recorded: async () => [],
    linkEvent: (_turn, event) => void told.push(['linkEvent', event.type]),
    ended: (turn) => void told.push(['ended', turn.view.end?.outcome]),
    freshSession: () => 'fresh',
    abandon: () => void told.push(['abandon', undefined]),
    delivered: (turn) => void told.push(['delivered', turn]),
    audit: (_turn, entry) => void told.push(['audit', entry]),
    usable: () => undefined,
    releaseProbe: () => void told.push(['releaseProbe', undefined]),
    failed: (_agent, fault) => void told.push(['failed', fault.code]),
    moved: (turn) => void told.push(['moved', turn.agent.name]),
    ...more,
  }
  const parts = { command, agent, others: [], route: { ...ROUTE, ...route }, session: 's', exchange, scope, owner }
  return { turn: new Turn(parts), host, exchange, told }
}
