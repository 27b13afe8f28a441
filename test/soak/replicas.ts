/** Three replicas under load, with kills, pauses, partitions and restarts at random, and what became of every turn. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreLocation } from '../../src/contract/index.ts'
import { textOf } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { turnsIn } from '../hostile/kit.ts'
import { type Served, serve } from '../hostile/served.ts'
import { type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { startProxy, type TcpProxy } from '../kit/tcp-proxy.ts'
import { type Random, randomFrom } from './random.ts'

const REPLICAS = 3
const LANES = 6
/** The shortest lease. */
const LEASE_MS = 4000
/** The time after which a client gives a request up: it was never answered. */
const PATIENCE_MS = 60_000
const AGAIN_MS = 100

/** What became of all requests. */
export interface SoakedReplicas {
  requests: number
  /** The faults, in order, each with the second in which it began. */
  faults: readonly string[]
  /** How often each outcome is in the record. */
  kept: Readonly<Record<string, number>>
  /** How often clients had to send a request again, by what they were told. */
  again: Readonly<Record<string, number>>
  /** Everything that should not be: one line each. */
  wrong: readonly string[]
  /** The request that took longest until it was answered: its milliseconds, and what came of each attempt. */
  slowest: Slowest
}

interface Slowest {
  ms: number
  attempts: readonly string[]
}

/** A replica with its ways to the store and from the others. */
interface Member {
  served: Served
  folder: string
  toStore: TcpProxy
  fromPeers: TcpProxy
  /** A fault is under way. */
  troubled: boolean
}

/** A request of a client, sent again under its key until it is answered. */
interface Request {
  session: string
  text: string
}

/**
 * Works for a moment, and says what it was told. Its process holds the lock of its session for as long as it lives: a second
 * one at the same time notes that.
 */
const AGENT = `
session=\${AGENT_MESSAGE%% *}
cd "$(dirname "$0")"
exec 9>"lock-$session"
flock -n 9 || echo "$session" >>overlaps
sleep "0.$(( \${AGENT_MESSAGE##* } % 5 ))"
echo "$AGENT_MESSAGE"
`

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Runs for so many seconds. The seed determines the faults and their order; one whose replica has another one at that time is
 * left out. `progress` is told how far it is.
 */
export async function soakReplicas(
  seconds: number,
  seed: number,
  progress: (text: string) => void = () => {},
): Promise<SoakedReplicas> {
  const server = await startPostgres()
  const soak = new ReplicaSoak(server, randomFrom(seed))
  try {
    await soak.start()
    return await soak.run(seconds, progress)
  } finally {
    await soak.stop()
    await server.close()
  }
}

class ReplicaSoak {
  readonly #server: PostgresServer
  readonly #random: Random
  readonly #folder = mkdtempSync(join(tmpdir(), 'turnpike-soak-'))
  readonly #members: Member[] = []
  readonly #faults: string[] = []
  /** The kinds of faults that are under way. */
  readonly #underWay = new Set<string>()
  readonly #again: Record<string, number> = {}
  readonly #wrong: string[] = []
  /** The turns that clients were told of, by their keys. */
  readonly #told = new Map<string, string>()
  #slowest: Slowest = { ms: 0, attempts: [] }
  #began = 0
  #over = false

  constructor(server: PostgresServer, random: Random) {
    this.#server = server
    this.#random = random
    writeFileSync(join(this.#folder, 'overlaps'), '')
    writeFileSync(join(this.#folder, 'agent.sh'), AGENT)
  }

  async start(): Promise<void> {
    for (let at = 0; at < REPLICAS; at += 1) {
      const toStore = await startProxy(() => Number(new URL(this.#server.url).port))
      const fromPeers = await startProxy(() => this.#members[at]?.served.port ?? 0)
      const folder = mkdtempSync(join(this.#folder, 'replica-'))
      const served = await serve(this.#config(toStore, fromPeers), { folder })
      this.#members.push({ served, folder, toStore, fromPeers, troubled: false })
    }
  }

  async stop(): Promise<void> {
    for (const { served, toStore, fromPeers } of this.#members) {
      served.process.kill('SIGCONT')
      await served.stop()
      await Promise.all([toStore.close(), fromPeers.close()])
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async run(seconds: number, progress: (text: string) => void): Promise<SoakedReplicas> {
    this.#began = performance.now()
    const clients = Array.from({ length: LANES }, (_, lane) => this.#client(lane))
    const troubles: Promise<void>[] = []
    while (performance.now() - this.#began < seconds * 1000) {
      await wait(this.#random.between(500, 4000))
      troubles.push(this.#trouble())
      const past = Math.round((performance.now() - this.#began) / 1000)
      progress(`${past} of ${seconds} s, ${this.#told.size} turns, ${this.#faults.length} faults`)
    }
    await Promise.all(troubles)
    this.#over = true
    await Promise.all(clients)
    // Turns of replicas that died at the end are ended as well.
    await wait(LEASE_MS + 3000)
    return this.#account()
  }

  #config(toStore: TcpProxy, fromPeers: TcpProxy): string {
    const url = this.#server.url.replace(/:\d+\//, `:${toStore.port}/`)
    return `server: { port: 0, socket: false }
default: echo
limits: { start: 60s, firstEvent: 60s, idle: 60s, total: 60s, grace: 200ms }
cluster: { lease: ${LEASE_MS}ms, address: 'http://127.0.0.1:${fromPeers.port}' }
agents:
  echo: { protocol: agentproc, command: /bin/sh, args: [${this.#folder}/agent.sh], pool: { max: 50 } }
store: { kind: postgres, url: '${url}', schema: soak }
log: { level: error, pretty: false }
`
  }

  /** Sends one request after the other, in its own sessions. */
  async #client(lane: number): Promise<void> {
    for (let turn = 0; !this.#over; turn += 1) {
      const session = `soak-${lane}-${Math.floor(turn / 20)}`
      await this.#ask({ session, text: `${session} ${turn}` }, lane + turn)
      await wait(AGAIN_MS)
    }
  }

  /** Asks one replica after the other until the answer is there, as a balancer and a client that sends again do. */
  async #ask(request: Request, first: number): Promise<void> {
    const began = performance.now()
    const attempts: string[] = []
    for (let at = first; ; at += 1) {
      const sentAt = this.#seconds
      const told = await this.#tell(this.#members[at % REPLICAS]!, request, at % 2 === 0)
      attempts.push(`from ${sentAt} s to ${this.#seconds} s at ${at % REPLICAS}: ${told ?? request.text}`)
      if (told === undefined) break
      this.#again[told] = (this.#again[told] ?? 0) + 1
      if (performance.now() - began > PATIENCE_MS) {
        this.#wrong.push(`no answer to ${request.text}, the last time: ${told}`)
        return
      }
      await wait(AGAIN_MS)
    }
    const ms = performance.now() - began
    if (ms > this.#slowest.ms) this.#slowest = { ms, attempts }
  }

  get #store(): StoreLocation {
    return { kind: 'postgres', url: this.#server.url, schema: 'soak' }
  }

  /** The seconds since the beginning. */
  get #seconds(): string {
    return ((performance.now() - this.#began) / 1000).toFixed(1)
  }

  /** Sends a request to a replica. Undefined when it was answered, else what came. */
  async #tell({ served }: Member, { session, text }: Request, streamed: boolean): Promise<string | undefined> {
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': text,
      accept: streamed ? 'application/x-ndjson' : 'application/json',
    }
    const body = JSON.stringify({ input: text, session: { id: session } })
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const response = await fetch(`${served.url}/v1/turns`, { method: 'POST', headers, body, signal })
      const answer = await response.text()
      if (!response.ok) return String(response.status)
      return streamed ? this.#heardEvents(text, answer) : this.#heard(text, JSON.parse(answer))
    } catch (error) {
      return error instanceof Error ? error.name : 'cut'
    }
  }

  #heard(key: string, { turn, outcome, text, fault, notices = [] }: Answer): string | undefined {
    if (outcome !== 'completed') return `${outcome} ${fault?.code}`
    // Only requests without a key may run without a record.
    if (notices.some(({ code }) => code === 'unrecorded')) this.#wrong.push(`${key} ran as ${turn}, unrecorded`)
    if (text !== key) this.#wrong.push(`${key} was answered with ${JSON.stringify(text)}`)
    this.#told.set(key, turn)
    return undefined
  }

  #heardEvents(key: string, answer: string): string | undefined {
    const events = answer
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as StreamedEvent)
    const last = events.at(-1)!
    if (last.type !== 'turn-end') return 'a stream without an end'
    const text = events.map(({ type, text }) => (type === 'text-delta' ? text : '')).join('')
    const notices = events.flatMap(({ type, code }) => (type === 'notice' && code !== undefined ? [{ code }] : []))
    return this.#heard(key, { turn: last.turn, outcome: last.outcome, text, fault: last.fault, notices })
  }

  /** One fault, until it is over. */
  async #trouble(): Promise<void> {
    const random = this.#random
    const [name, fault] = random.of(Object.entries(FAULTS))
    const ms = random.between(500, 9000)
    const at = random.below(REPLICAS)
    const member = this.#members[at]!
    if (member.troubled || this.#underWay.has(name)) return
    this.#underWay.add(name)
    this.#faults.push(`${this.#seconds} s: ${name} of ${at} for ${ms} ms`)
    member.troubled = true
    await fault(member, ms, this.#server, async () => {
      member.served = await this.#startAgain(member)
    })
    member.troubled = false
    this.#underWay.delete(name)
  }

  /** Starts a replica again until it runs, as what supervises it does: its store may be away. */
  async #startAgain({ folder, toStore, fromPeers, served }: Member): Promise<Served> {
    for (;;) {
      try {
        return await serve(this.#config(toStore, fromPeers), { folder, port: served.port })
      } catch (error) {
        if (!/cannot be reached/.test(String(error))) throw error
        this.#faults.push(`${this.#seconds} s: a start failed, for its store was away`)
        await wait(AGAIN_MS)
      }
    }
  }

  /** Turns that were completed besides those that clients were told of: each with its request, and when which replica ran it. */
  async #runTwice(turns: readonly string[]): Promise<string[]> {
    const store = await openStore(this.#store)
    const keyOf = async (turn: string): Promise<string> => {
      const [said] = (await store.readTurnMessages(turn)) ?? []
      return said ? textOf(said.parts) : ''
    }
    const about = async (turn: string): Promise<string> => {
      const { owner, startedAt, endedAt } = (await store.readTurn(turn))!
      return `${turn} of ${owner}, ${startedAt} to ${endedAt}`
    }
    const lines = turns.map(async (turn) => {
      const key = await keyOf(turn)
      const told = this.#told.get(key)
      return `${key} was completed as ${await about(turn)}, and as ${told ? await about(told) : 'none'}`
    })
    return Promise.all(lines).finally(() => store.close())
  }

  async #account(): Promise<SoakedReplicas> {
    const turns = await turnsIn(this.#store)
    const kept: Record<string, number> = {}
    for (const { outcome, code } of turns) {
      const what = [outcome ?? 'none', code].filter(Boolean).join(' ')
      kept[what] = (kept[what] ?? 0) + 1
    }
    const byId = new Map(turns.map((turn) => [turn.turn, turn]))
    const wrong = [...this.#wrong]
    for (const { turn, outcome, ends, endsLast } of turns) {
      if (outcome === null || ends !== 1 || !endsLast)
        wrong.push(`${turn}: ${outcome}, ${ends} ends, last: ${endsLast}`)
    }
    for (const [key, turn] of this.#told) {
      const { outcome, code } = byId.get(turn) ?? { outcome: 'none', code: null }
      if (outcome !== 'completed') wrong.push(`${key} was told the success of ${turn}, recorded: ${outcome} ${code}`)
    }
    const told = new Set(this.#told.values())
    const further = turns.filter(({ turn, outcome }) => outcome === 'completed' && !told.has(turn))
    wrong.push(...(await this.#runTwice(further.map(({ turn }) => turn))))
    for (const session of readFileSync(join(this.#folder, 'overlaps'), 'utf8').split('\n').filter(Boolean)) {
      wrong.push(`two agents ran at once in ${session}`)
    }
    const { size: requests } = this.#told
    return { requests, faults: this.#faults, kept, again: this.#again, wrong, slowest: this.#slowest }
  }
}

interface Answer {
  turn: string
  outcome: string
  text: string
  fault?: { code: string } | undefined
  notices?: readonly { code: string }[]
}
interface StreamedEvent extends Answer {
  type: string
  code?: string
}

/** Does a fault for so many milliseconds; `again` starts the replica that has ended. */
type Trouble = (member: Member, ms: number, server: PostgresServer, again: () => Promise<void>) => Promise<void>

const ended = ({ served: { process } }: Member): Promise<unknown> =>
  process.exitCode !== null || process.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => process.once('exit', resolve))

const FAULTS: Readonly<Record<string, Trouble>> = {
  async kill(member, ms, _server, again) {
    member.served.process.kill('SIGKILL')
    await ended(member)
    await wait(ms)
    await again()
  },
  async restart(member, _ms, _server, again) {
    member.served.process.kill('SIGTERM')
    await ended(member)
    await again()
  },
  async pause({ served }, ms) {
    served.process.kill('SIGSTOP')
    await wait(ms)
    served.process.kill('SIGCONT')
  },
  async 'loss of the store'({ toStore }, ms) {
    toStore.cut()
    await wait(ms)
    await toStore.heal()
  },
  async 'slow store'({ toStore }, ms) {
    toStore.delay(150)
    await wait(ms)
    toStore.delay(0)
  },
  async 'loss of the peers'({ fromPeers }, ms) {
    fromPeers.cut()
    await wait(ms)
    await fromPeers.heal()
  },
  async 'restart of the store'(_member, ms, server) {
    await server.stop(ms % 2 === 0 ? 'immediate' : 'fast')
    await server.start()
  },
}
