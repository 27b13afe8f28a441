import type { BackContext, CallEnd, Frame, Framing } from '../contract/index.ts'
import { acceptedTurn, type Exchange, RecordedAgent, RecordedClient } from '../engine/replay/index.ts'
import { type FrameDecoder, frameDecoder } from '../framing/index.ts'
import type { Command, Id, LinkEvent, Loss, TurnEvent, TurnStart } from '../model/index.ts'
import { Flow } from './flow.ts'
import { Followers, turnOf } from './followers.ts'
import { framingOfAnswer, framingOfText } from './framing.ts'
import { asksByItself, clientContextOf } from './front-context.ts'
import { MirrorTarget, UNKNOWN } from './mirror.ts'
import type { Output } from './output.ts'
import { backContext, backOf, frontOf } from './party.ts'
import type { Wire } from './recording.ts'
import { type Control, insteadOf, modelTarget, type Target } from './target.ts'
import type { BrokenOff, Translation } from './translation.ts'

/** Plays one recorded wire. */
export class WirePlayer {
  readonly #wire: Wire
  readonly #how: Translation
  readonly #output: Output
  readonly #target: Target
  /** The recorded client also reads the translation: both sides use one dialect. */
  readonly #own: boolean
  readonly #broken: BrokenOff | undefined
  readonly #client: RecordedClient | undefined
  readonly #agents: RecordedAgent[] = []
  readonly #flows: Flow[] = []
  /** The agent's side is recorded. */
  readonly #answered: boolean
  readonly #exchanges = new Map<Id, Exchange>()
  readonly #followers: Followers | undefined
  readonly #turns = new Set<Id>()
  /** The agent's session names of its turns, in order, if it sent them. */
  readonly sessions: string[] = []
  /** The exit code of the client's program, once its front closed the wire. */
  exitCode: number | undefined
  readonly #known: readonly string[]
  /**
   * The number of the client's commands; undefined while they come from its arguments, which no line of the wire
   * answers.
   */
  #commands: number | undefined
  #unasked = 0
  /** An agent's link is handling a frame: commands of its client wait until it has finished. */
  #speaking = false
  /** The agent's side has ended. */
  #cut = false
  readonly #later: (() => void)[] = []

  constructor(wire: Wire, how: Translation, output: Output, known: readonly string[], broken?: BrokenOff) {
    this.#known = known
    this.#broken = broken
    this.#wire = wire
    this.#how = how
    this.#output = output
    const { from, to, of } = how
    const asked = wire.steps.some(({ who }) => who === 'client') || asksByItself(wire, how)
    this.#answered = of === 'agent' || wire.steps.some(({ who }) => who === 'agent')
    this.#own = asked && of === 'agent' && to !== 'canonical' && to.codec === from.codec && to.dialect === from.dialect
    this.#target = this.#own ? silent : targetOf(how, output)
    if (asked) this.#client = this.#openClient()
    if (broken) this.#followers = new Followers(backOf(from), this.#agentContext)
  }

  /** Plays the wire. True when something was open at its end that the break of the wire has ended. */
  play(): boolean {
    const { steps, end } = this.#wire
    const { framing } = frontOf(this.#how.from)
    if (this.#answered) this.#openAgent()
    this.#client?.open()
    this.#commands = 0
    const client = this.#decoder(framing, (frame) => this.#asked(frame))
    if (!steps.some(({ who }) => who === 'client')) this.#endClient(client)
    let agent: FrameDecoder | undefined
    for (const step of steps) {
      if (step.who === 'client') {
        if (step.text !== undefined) client.push(step.text)
        else this.#endClient(client)
      } else if ('head' in step) {
        agent = this.#decoder(framingOfAnswer(step.head, framing), (frame) => this.#said(frame))
        for (const known of this.#agents) this.#speak(() => known.head(step.head))
      } else {
        agent ??= this.#decoder(framingOfText(step.text, framing), (frame) => this.#said(frame))
        agent.push(step.text)
      }
    }
    agent?.end()
    if (this.#broken) return this.#breakOff(this.#broken)
    this.#runOut(end)
    return false
  }

  /** Ends the recording and its agent. */
  #runOut(end: CallEnd): void {
    // Commands that the agent's protocol does not have are answered here, as in a gateway.
    for (const exchange of this.#exchanges.values()) exchange.reply(insteadOf(exchange.command))
    this.#cut = true
    for (const known of this.#agents) this.#speak(() => known.end(end))
  }

  /** Ends everything that is open when the agent is gone; only the client's output of that counts. */
  #breakOff({ fault, written }: BrokenOff): boolean {
    if (written) this.#output.out = ''
    this.#cut = true
    this.#followers?.fail(fault)
    for (let ended = false; ; ended = true) {
      const asked = [...this.#exchanges.values()].find(({ ended }) => !ended)
      const flow = this.#flows.find(({ ended }) => !ended)
      if (asked) asked.reply({ fault })
      else if (flow) this.#speak(() => flow.fail(fault))
      else return ended
    }
  }

  #endClient(decoder: FrameDecoder): void {
    decoder.end()
    this.#client?.end()
    while (!this.#answered && this.#finish()) {}
  }

  #decoder(framing: Framing, frame: (frame: Frame) => void): FrameDecoder {
    return frameDecoder(framing, Number.MAX_SAFE_INTEGER, { frame, fault: (fault) => this.#output.fault(fault) })
  }

  #openClient(): RecordedClient {
    const { from, of } = this.#how
    const broken = this.#broken
    const wire = { dialect: frontOf(from), context: clientContextOf(this.#wire, this.#how) }
    return new RecordedClient(
      { ...wire, ...(broken && { at: broken.now, idPrefix: broken.idPrefix }) },
      {
        command: (command, exchange) => this.#command(command, exchange),
        send: (frame, framing) => {
          if (this.#own) this.#output.frame(frame, framing)
        },
        loss: (loss, direction) => {
          if (direction === 'request' ? of === 'client' : this.#own) this.#output.loss(loss)
        },
        fault: (fault, direction) => {
          if (of === 'client' && direction === 'request') this.#output.fault(fault)
        },
        close: (exitCode) => {
          this.exitCode = exitCode
        },
      },
    )
  }

  get #agentContext(): BackContext<unknown> {
    const context = backContext(this.#how.from, this.#wire.argv ?? this.#how.argv)
    // Only a wire that broke off has its ids as the gateway made them.
    const turns = this.#broken && { turns: this.#turns }
    return { ...context, recorded: this.#client ? 'both' : 'agent', ...turns }
  }

  #openAgent(): RecordedAgent {
    const { from, of } = this.#how
    const agent: RecordedAgent = new RecordedAgent(backOf(from), this.#agentContext, {
      event: (event) => this.#event(event),
      link: (event) => this.#link(event),
      loss: (loss, direction) => {
        if (direction === 'response' && of === 'agent') this.#loss(loss, agent.running)
      },
      fault: (fault) => this.#output.fault(fault),
    })
    this.#agents.push(agent)
    agent.open()
    return agent
  }

  /**
   * A frame of the client. Without the agent's side a turn ends when the client sends a command that has to wait for
   * it.
   */
  #asked(frame: Frame): void {
    const before = this.#commands
    this.#client?.decode(frame)
    if (!this.#answered && this.#commands === before) this.#finish()
  }

  #command(command: Command, exchange: Exchange | undefined): void {
    if (this.#speaking) {
      this.#later.push(() => this.#command(command, exchange))
      return
    }
    const reading = this.#commands !== undefined
    if (this.#commands !== undefined) this.#commands += 1
    const named = turnOf(command)
    if (named !== undefined) this.#turns.add(named)
    if (exchange && this.#followers?.add(command, exchange)) return
    if (command.type === 'turn-start') {
      while (!this.#answered && this.#finish()) {}
      this.#start(command, exchange)
      return
    }
    if (!reading) {
      this.#target.send(command)
      exchange?.reply(insteadOf(command))
      return
    }
    if (exchange && !this.#answeredAtOnce(command)) this.#exchanges.set(exchange.id, exchange)
    const flow = this.#meant(command)
    const meant: Control = flow && 'target' in command ? { ...command, target: { turn: flow.turn } } : command
    const agent = flow?.agent ?? this.#agents[0]
    agent?.send(meant)
    this.#target.send(meant)
    if (!this.#answered) exchange?.reply(insteadOf(command))
  }

  /** The gateway itself answers commands that agents do not have; when it is gone, it has done so. */
  #answeredAtOnce(command: Command): boolean {
    const item = command.type === 'query' ? (`query.${command.what}` as const) : command.type
    return this.#broken !== undefined && backOf(this.#how.from).back.capabilities[item] === 'none'
  }

  #start(command: Command & TurnStart, exchange: Exchange | undefined): void {
    const idle = this.#agents.find(({ running }) => running === undefined)
    const agent = this.#answered ? (idle ?? this.#openAgent()) : undefined
    const session = this.#sessionOf(command.session?.id ?? '')
    const named = this.#how.of === 'agent' && session !== ''
    const told = named ? { ...command, session: { ...command.session, id: session } } : command
    const flow = new Flow(told, agent, this.#target, exchange && { exchange, client: this.#client! })
    this.#flows.push(flow)
    flow.begin()
    const accepted = acceptedTurn(command.turn, 'new', session, command.request)
    if (this.#broken) flow.willAccept(accepted)
    else flow.event(accepted)
    agent?.start(command)
  }

  /** The agent's name of the next turn's session, else this one. */
  #sessionOf(otherwise: string): string {
    return this.#known.slice(0, this.#flows.length + 1).findLast((name) => name !== undefined) ?? otherwise
  }

  /** A frame of the agent. A frame outside of a turn begins one when the client was not recorded. */
  #said(frame: Frame): void {
    this.#followers?.decode(frame)
    if (!this.#client && this.#agents.every(({ running }) => running === undefined)) this.#startUnasked()
    const busy = this.#agents.filter(({ running }) => running !== undefined)
    for (const agent of busy.length > 0 ? busy : this.#agents.slice(0, 1)) {
      this.#speak(() => agent.decode(frame))
    }
  }

  #speak(step: () => void): void {
    this.#speaking = true
    step()
    this.#speaking = false
    for (let next = this.#later.shift(); next; next = this.#later.shift()) next()
  }

  #startUnasked(): void {
    this.#unasked += 1
    const command: Command & TurnStart = {
      exchange: `recorded-${this.#unasked}`,
      type: 'turn-start',
      turn: `turn-${this.#unasked}`,
      task: 'prompt',
      input: [{ type: 'text', text: UNKNOWN }],
      options: {},
      session: { id: this.#sessionOf('recorded') },
    }
    const agent = this.#agents[0]!
    const flow = new Flow(command, agent, this.#target, undefined)
    this.#flows.push(flow)
    // Frames after an answer may not belong to a turn: only content begins one.
    if (this.#unasked === 1) flow.begin()
    agent.start(command)
  }

  #event(event: TurnEvent): void {
    // The failure is in reading the agent's output, not in the agent.
    const found = event.type === 'turn-end' ? event.fault : undefined
    if (found?.code === 'protocol-violation' && this.#how.of === 'agent') this.#output.fault(found)
    this.#flows.find(({ turn }) => turn === event.turn)?.event(event, this.#cut)
  }

  #link(event: LinkEvent): void {
    if (event.type === 'session-bound') this.sessions[Math.max(0, this.#flows.length - 1)] = event.agentSession
    if (event.type === 'command-reply') this.#exchanges.get(event.exchange)?.reply(event)
    else this.#client?.tell(event)
    this.#target.link(event)
  }

  #loss(loss: Loss, turn: Id | undefined): void {
    const flow = this.#flows.find((known) => known.turn === turn)
    if (!flow?.loss(loss)) this.#output.loss(loss)
  }

  /** The running turn that a command is for. */
  #meant(command: Command): Flow | undefined {
    const running = this.#flows.filter(({ ended }) => !ended)
    if (!('target' in command) || command.target === 'running') return running.at(-1)
    return running.find((flow) => flow.isMeantBy(command.target))
  }

  /** Ends the turn that has waited longest for an agent that was not recorded; false when none waits. */
  #finish(): boolean {
    const flow = this.#flows.find(({ ended }) => !ended)
    flow?.event({ type: 'turn-end', turn: flow.turn, outcome: 'completed', stop: 'end' })
    return flow !== undefined
  }
}

/** A target that writes nothing: the recorded client reads the translation itself. */
const silent: Target = { start: () => undefined, send() {}, link() {} }

function targetOf({ to, of }: Translation, output: Output): Target {
  if (to === 'canonical') return modelTarget(output, of === 'client')
  return new MirrorTarget(to, of === 'client' ? 'agent is sent' : 'client reads', output)
}
