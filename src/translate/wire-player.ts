import type { BackContext, CallHead, Frame } from '../contract/index.ts'
import { acceptedTurn, type Exchange, RecordedAgent, RecordedClient } from '../engine/replay/index.ts'
import type { Command, Fault, Id, LinkEvent, Loss, TurnEvent, TurnStart } from '../model/index.ts'
import { AgentSessions } from './agent-sessions.ts'
import { Agents } from './agents.ts'
import { type BrokenOff, BrokenWire } from './broken-wire.ts'
import { Flow } from './flow.ts'
import { Flows } from './flows.ts'
import { asksByItself, clientContextOf } from './front-context.ts'
import { MirrorTarget } from './mirror.ts'
import type { Output } from './output.ts'
import { backContext, backOf, framingOf, frontOf, hasClients } from './party.ts'
import type { Wire } from './recording.ts'
import { type Control, insteadOf, modelTarget, type Target, UNKNOWN } from './target.ts'
import type { Translation } from './translation.ts'
import { readFrames, type WireReader } from './wire-frames.ts'

/** Plays one recorded wire: its client's commands are the turns, or without them what its agent says begins turns. */
export class WirePlayer implements WireReader {
  readonly #wire: Wire
  readonly #how: Translation
  readonly #output: Output
  readonly #target: Target
  readonly #client: RecordedClient | undefined
  /** The agents of the wire; absent when the agent's side is not recorded. */
  readonly #agents: Agents | undefined
  readonly #flows = new Flows()
  /** The exchanges of commands that start no turn. */
  readonly #controls = new Map<Id, Exchange>()
  readonly #broken: BrokenWire | undefined
  readonly #sessions: AgentSessions
  /**
   * The number of the client's commands; undefined while they come from its arguments, which no line of the wire
   * answers.
   */
  #commands: number | undefined
  /** The agent's side has ended. */
  #cut = false

  /** `known` are the agent's session names that an earlier reading of the wire found. */
  constructor(wire: Wire, how: Translation, output: Output, known: readonly Id[], off?: BrokenOff) {
    const { from, to, of } = how
    const has = (side: 'client' | 'agent'): boolean => wire.steps.some(({ who }) => who === side)
    const asked = hasClients(from) && (has('client') || asksByItself(wire, how))
    // With one dialect on both sides the recorded client itself reads the translation.
    const reads =
      asked && of === 'agent' && to !== 'canonical' && to.codec === from.codec && to.dialect === from.dialect
    this.#wire = wire
    this.#how = how
    this.#output = output
    this.#sessions = new AgentSessions(known)
    this.#target = reads ? SILENT : targetOf(how, output)
    this.#client = asked ? this.#newClient(reads, off) : undefined
    const context = backContext(from, wire.argv ?? how.argv)
    const recorded = { ...context, recorded: asked ? 'both' : 'agent' } as const
    this.#broken = off && new BrokenWire(off, backOf(from), recorded)
    const agentContext = this.#broken?.context ?? recorded
    if (of === 'agent' || has('agent')) this.#agents = new Agents(() => this.#newAgent(agentContext))
  }

  /** The agent's session names that the wire has. */
  get sessions(): readonly Id[] {
    return this.#sessions.read
  }

  /** The exit code of the client's program, once its front closed the wire. */
  get exitCode(): number | undefined {
    return this.#client?.exitCode
  }

  /** Plays the wire. True when something was open at its end that the break of the wire has ended. */
  play(): boolean {
    this.#agents?.first.open()
    this.#client?.open()
    this.#commands = 0
    readFrames(this.#wire, framingOf(this.#how.from), this)
    this.#cut = true
    if (this.#broken) return this.#breakOff(this.#broken)
    // Commands that the agent's protocol does not have are answered here, as in a gateway.
    for (const exchange of this.#controls.values()) exchange.reply(insteadOf(exchange.command))
    this.#agents?.end(this.#wire.end)
    return false
  }

  /** Without the agent's side a turn ends when the client sends a command that has to wait for it. */
  asked(frame: Frame): void {
    const before = this.#commands
    this.#client?.decode(frame)
    if (!this.#agents && this.#commands === before) this.#flows.finish()
  }

  askedAll(): void {
    this.#client?.end()
    if (!this.#agents) this.#flows.finishAll()
  }

  head(head: CallHead): void {
    this.#agents?.head(head)
  }

  /** A frame outside of a turn begins one when the client was not recorded. */
  said(frame: Frame): void {
    this.#broken?.decode(frame)
    if (!this.#client && this.#agents?.idle) this.#startUnasked(this.#agents.first)
    this.#agents?.decode(frame)
  }

  fault(fault: Fault): void {
    this.#output.fault(fault)
  }

  /** Ends everything that is open when the agent is gone; only the client's output of that counts. */
  #breakOff(broken: BrokenWire): boolean {
    const { fault, written } = broken.off
    if (written) {
      this.#output.out = ''
      this.#output.warned = []
    }
    broken.end()
    for (let ended = false; ; ended = true) {
      const control = [...this.#controls.values()].find(({ ended }) => !ended)
      const flow = this.#flows.open
      if (control) control.reply({ fault })
      else if (flow) this.#agents!.speak(() => flow.fail(fault))
      else return ended
    }
  }

  /** `reads`: what it is shown is the translation. */
  #newClient(reads: boolean, off: BrokenOff | undefined): RecordedClient {
    const { from, of } = this.#how
    const wire = { dialect: frontOf(from), context: clientContextOf(this.#wire, this.#how) }
    return new RecordedClient(off ? { ...wire, at: off.now, idPrefix: off.idPrefix } : wire, {
      command: (command, exchange) => this.#onCommand(command, exchange),
      send: (frame, framing) => {
        if (reads) this.#output.frame(frame, framing)
      },
      warn: (text) => this.#output.warned.push(text),
      loss: (loss, direction) => {
        if (direction === 'request' ? of === 'client' : reads) this.#output.loss(loss)
      },
      fault: (fault, direction) => {
        if (of === 'client' && direction === 'request') this.fault(fault)
      },
    })
  }

  #newAgent(context: BackContext<unknown>): RecordedAgent {
    const { from, of } = this.#how
    const agent: RecordedAgent = new RecordedAgent(backOf(from), context, {
      event: (event) => this.#event(event),
      link: (event) => this.#link(event),
      loss: (loss, direction) => {
        if (direction === 'response' && of === 'agent') this.#loss(loss, agent.running)
      },
      fault: (fault) => this.fault(fault),
    })
    return agent
  }

  /** A client's request while an agent handles a frame waits until it has finished. */
  #onCommand(command: Command, exchange: Exchange | undefined): void {
    if (this.#agents) this.#agents.whenSilent(() => this.#command(command, exchange))
    else this.#command(command, exchange)
  }

  #command(command: Command, exchange: Exchange | undefined): void {
    const reading = this.#commands !== undefined
    if (this.#commands !== undefined) this.#commands += 1
    if (this.#broken?.takes(command, exchange)) return
    if (command.type === 'turn-start') this.#start(command, exchange)
    else if (reading) this.#control(command, exchange)
    else {
      this.#target.send(command)
      exchange?.reply(insteadOf(command))
    }
  }

  #control(command: Control, exchange: Exchange | undefined): void {
    if (exchange && !this.#broken?.hasAnswered(command)) this.#controls.set(exchange.id, exchange)
    const flow = this.#flows.meant(command)
    const meant: Control = flow && 'target' in command ? { ...command, target: { turn: flow.turn } } : command
    const agent = flow?.agent ?? this.#agents?.first
    agent?.send(meant)
    this.#target.send(meant)
    if (!this.#agents) exchange?.reply(insteadOf(command))
  }

  #start(command: Command & TurnStart, exchange: Exchange | undefined): void {
    if (!this.#agents) this.#flows.finishAll()
    const agent = this.#agents?.forTurn()
    const session = this.#sessions.next(this.#flows.count, command.session?.id ?? '')
    const named = this.#how.of === 'agent' && session !== ''
    const told = named ? { ...command, session: { ...command.session, id: session } } : command
    const flow = new Flow(told, agent, this.#target, exchange && { exchange, client: this.#client! })
    this.#flows.add(flow).begin()
    const accepted = acceptedTurn(command.turn, 'new', session, command.request)
    if (this.#broken) flow.willAccept(accepted)
    else flow.event(accepted)
    agent?.start(command)
  }

  #startUnasked(agent: RecordedAgent): void {
    const number = this.#flows.count + 1
    const command: Command & TurnStart = {
      exchange: `recorded-${number}`,
      type: 'turn-start',
      turn: `turn-${number}`,
      task: 'prompt',
      input: [{ type: 'text', text: UNKNOWN }],
      options: {},
      session: { id: this.#sessions.next(this.#flows.count, 'recorded') },
    }
    const flow = this.#flows.add(new Flow(command, agent, this.#target, undefined))
    // Frames after an answer may not belong to a turn: only content begins one.
    if (number === 1) flow.begin()
    agent.start(command)
  }

  #event(event: TurnEvent): void {
    // The failure is in reading the agent's output, not in the agent.
    const found = event.type === 'turn-end' ? event.fault : undefined
    if (found?.code === 'protocol-violation' && this.#how.of === 'agent') this.fault(found)
    this.#flows.of(event.turn)?.event(event, this.#cut)
  }

  #link(event: LinkEvent): void {
    if (event.type === 'session-bound') this.#sessions.bind(this.#flows.count, event.agentSession)
    if (event.type === 'command-reply') this.#controls.get(event.exchange)?.reply(event)
    else this.#client?.tell(event)
    this.#target.link(event)
  }

  #loss(loss: Loss, turn: Id | undefined): void {
    if (!this.#flows.of(turn)?.loss(loss)) this.#output.loss(loss)
  }
}

/** A target that writes nothing: the recorded client reads the translation itself. */
const SILENT: Target = { start: () => undefined, send() {}, link() {} }

function targetOf({ to, of }: Translation, output: Output): Target {
  return to === 'canonical' ? modelTarget(output, of === 'client') : new MirrorTarget(to, of, output)
}
