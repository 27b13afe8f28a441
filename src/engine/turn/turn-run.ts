import { type Fault, fault, type Id, type Part, type TextRun, type TurnEnd, type TurnEvent } from '../../model/index.ts'
import type { AgentLink } from '../agent/index.ts'
import type { AgentSettings } from '../common/index.ts'
import { cancelledTurn, failedTurn, presented } from '../events/index.ts'
import { commandFor } from './agent-command.ts'
import type { AgentSession } from './agent-session.ts'
import { type AgentSetting, missingSettings, setAgent } from './agent-settings.ts'
import { failoverAfter, RETRIES, type Retry, retryAfter } from './next-try.ts'
import { Turn } from './turn.ts'
import { TurnAsks } from './turn-asks.ts'
import type { Runner, TurnInit, TurnPeers } from './turn-peers.ts'

/**
 * A turn on its agent's link: attempts one after the other, until the client has seen an event of one or nothing else
 * can be tried. Before that an attempt is repeated if the agent has lost the session, and the turn moves to another
 * agent if this one could not be used.
 */
export class TurnRun implements Runner {
  readonly #turn: Turn
  #asks: TurnAsks | undefined
  #others: readonly AgentSettings[]
  #retries = RETRIES
  /** It must not run, for a reason that is not its agent's. */
  refused = false
  #shown = false
  #announced = false
  /** The next attempt, after one whose end is held back. */
  #next: Retry | AgentSettings | undefined
  /** The fault of a turn that is out of time. */
  #late: Fault | undefined
  /** The size of the input that the agent got during the turn. */
  #inputSize = 0

  /** `others` are the agents that may take the turn when its own cannot, in order. */
  constructor(turn: Turn, others: readonly AgentSettings[]) {
    this.#turn = turn
    this.#others = others
  }

  /** The questions of the agent, once it has asked any. */
  get questions(): TurnAsks | undefined {
    return this.#asks
  }

  /** The questions of the agent. */
  get asks(): TurnAsks {
    this.#asks ??= new TurnAsks(this.#turn)
    return this.#asks
  }

  /** The reason why the agent gets no such input of a client now; undefined: it does. */
  inputRefusal(input: readonly Part[]): Fault | undefined {
    const { steerable, agent, limits } = this.#turn
    if (!steerable) return unsteerable(agent)
    return this.#inputSize + sizeOf(input) > limits.body ? tooMuch(limits.body) : undefined
  }

  /** Gives the agent input of a client, or the reason why not. */
  tell({ exchange, input }: { exchange: Id; input: readonly Part[] }): Fault | undefined {
    const turn = this.#turn
    const refusal = this.inputRefusal(input)
    if (refusal) return refusal
    this.#inputSize += sizeOf(input)
    turn.peers.recorder.steered(turn, input)
    turn.link!.send({ type: 'turn-steer', exchange, target: { turn: turn.id }, input })
    return undefined
  }

  /** Runs the turn; resolves when the agent is done with it: true when another process of it is to run it. */
  async on(link: AgentLink, session: AgentSession): Promise<boolean> {
    const turn = this.#turn
    turn.link = link
    // The link may be paused for the client of the last turn, and the client of this one may still have something to
    // read.
    turn.valve()
    for (const setting of missingSettings(link, session.settings)) {
      if (!(await this.#set(link, setting, session))) return false
    }
    turn.timer.enter(link.ready ? this.#silencePhase : 'start')
    let again: AgentSession | undefined = session
    while (again) {
      await this.#attempt(link, again)
      again = this.#next && (await this.#retry(link, again))
    }
    const other = this.#next
    if (other === 'process-gone') return this.#leaves(link)
    if (typeof other !== 'object') return false
    if (this.#isCurrent(link)) this.#moveOn(other)
    else turn.peers.breakers.release(other)
    return false
  }

  /** Ends the turn from outside, with this fault, or has another agent take it. Its agent is stopped after that. */
  fail(why: Fault): void {
    const turn = this.#turn
    if (turn.ended) return
    const end = turn.cancelled ? cancelledTurn(turn.id) : failedTurn(turn.id, why)
    if (turn.link?.abort(end, 'timeout')) return
    const other = typeof this.#next === 'object' ? undefined : this.#otherAgent(end)
    if (other) this.#moveOn(other)
    else turn.take(end)
  }

  /** Ends the turn because its time is out: its answer is what the agent has said of it, if that is a whole one. */
  expire(why: Fault): void {
    const { link, cancelled, id } = this.#turn
    this.#late = cancelled ? cancelledTurn(id).fault! : why
    if (!link?.expire(this.#late)) this.fail(why)
  }

  /** The turn must not run: ends it from outside, and no other agent takes it. */
  refuse(why: Fault): void {
    this.#others = []
    this.refused = true
    this.fail(why)
  }

  /** Only for agents that write while they work is silence a sign that they hang. */
  get #silencePhase(): 'firstEvent' | 'waiting' {
    return this.#turn.agent.dialect.back.capabilities['text-delta'] === 'none' ? 'waiting' : 'firstEvent'
  }

  /** True while the turn is to go on on this link; one that was cancelled meanwhile gets its end. */
  #isCurrent(link: AgentLink): boolean {
    const turn = this.#turn
    if (turn.ended || turn.link !== link) return false
    if (turn.cancelled) turn.take(cancelledTurn(turn.id))
    return !turn.ended
  }

  /** Leaves, once, a process that ended before it got the turn. False when the turn must not go on. */
  #leaves(link: AgentLink): boolean {
    const turn = this.#turn
    if (!this.#isCurrent(link)) return false
    this.#retries = this.#retries.filter((retry) => retry !== 'process-gone')
    this.#next = turn.link = undefined
    turn.scope.note('retry')
    turn.losses.clear()
    return true
  }

  /**
   * Applies the client's settings of the session to the agent. False when the turn must not run without them, or has
   * its end.
   */
  async #set(link: AgentLink, setting: AgentSetting, session: AgentSession): Promise<boolean> {
    const turn = this.#turn
    turn.timer.enter('start')
    const why = await setAgent(link, setting, session, `${turn.id}-${setting.option?.id ?? 'mode'}`)
    if (!this.#isCurrent(link)) return false
    if (why) turn.take(failedTurn(turn.id, why))
    return !turn.ended
  }

  /** One attempt; resolves when the agent is done with it. */
  async #attempt(link: AgentLink, session: AgentSession): Promise<void> {
    const turn = this.#turn
    const { limits } = turn
    this.#next = undefined
    const events = link.run({
      command: commandFor(turn, session),
      scope: turn.scope,
      graceMs: limits.grace,
      answerLimit: limits.answer,
      tape: turn.tape,
      loss: (loss) => turn.loss(loss),
      texts: (run) => this.#texts(run),
      progress: (what) => this.#progress(what),
    })
    await events.forEach((event) => {
      this.#fromAgent(event)
    })
    const leaving = link.settled()
    if (leaving) await leaving
  }

  /** The session for a second attempt; undefined when there is none. */
  async #retry(link: AgentLink, session: AgentSession): Promise<AgentSession | undefined> {
    const turn = this.#turn
    const why = this.#next
    if (why === undefined || why === 'process-gone' || typeof why === 'object' || !this.#isCurrent(link))
      return undefined
    this.#retries = this.#retries.filter((retry) => retry !== why)
    if (why === 'fresh-session') {
      turn.scope.note('retry')
      turn.losses.clear()
      turn.loss({ kind: 'weakened', item: 'session.id', why: 'policy', count: 1 })
      const { remembers: _, ...known } = session
      return { ...known, bound: turn.session.rebind() }
    }
    const again = await turn.session.lost(turn)
    if (!this.#isCurrent(link)) return undefined
    if ('code' in again) {
      turn.take(failedTurn(turn.id, again))
      return undefined
    }
    turn.losses.clear()
    return again
  }

  /** An agent that may be silent until it has its whole answer may not be once it streams. */
  #progress(what: 'ready' | 'head' | 'frame'): void {
    const { timer } = this.#turn
    if (what === 'ready') timer.enter(this.#silencePhase)
    else if (this.#silencePhase === 'firstEvent') return
    else if (what === 'head') timer.enter('firstEvent')
    else timer.touch()
  }

  #fromAgent(said: TurnEvent): void {
    const turn = this.#turn
    const event = this.#judge(said)
    if (event.type === 'turn-started') {
      if (this.#announced) return
      this.#announced = true
    } else {
      if (this.#silencePhase === 'firstEvent') turn.timer.touch()
      if (!this.#shown) turn.scope.firstEvent(event)
      if (event.type === 'turn-end' && this.#holdsBack(event)) return
      this.#shown = true
    }
    this.#show(event)
  }

  /** Pieces of text of the agent, which need no look at each. */
  #texts(run: TextRun): void {
    const turn = this.#turn
    if (this.#silencePhase === 'firstEvent') turn.timer.touch()
    if (!this.#shown) turn.scope.firstEvent(run.first)
    this.#shown = true
    turn.takeTexts(run)
  }

  /** An event for the clients: questions go through those that ask them. */
  #show(event: TurnEvent): void {
    const { scope, agent } = this.#turn
    if (event.type === 'tool-start' || event.type === 'tool-call' || event.type === 'tool-end') scope.tool(event)
    if (event.type === 'ask') scope.note('asked', event.question.kind)
    if (event.type === 'ask' && !this.asks.asked(event)) return
    if (event.type === 'ask-settled' && !this.asks.settled(event)) return
    this.#turn.take(presented(event.type === 'ask' ? this.asks.shown(event) : event, agent))
    if (event.type === 'ask') this.#turn.valve()
  }

  /** Gives a turn that a time limit cut off the fault of that limit. */
  #judge(event: TurnEvent): TurnEvent {
    const cut = this.#late && event.type === 'turn-end' && event.outcome === 'failed'
    return cut && event.fault?.code !== this.#late!.code ? failedTurn(event.turn, this.#late!) : event
  }

  /** True for an end that no client sees, because another attempt follows. */
  #holdsBack(end: TurnEnd): boolean {
    if (this.#shown || this.#turn.cancelled) return false
    this.#next = retryAfter(end, this.#retries, this.#turn.link?.unreached === true) ?? this.#otherAgent(end)
    return this.#next !== undefined
  }

  /** The agent that takes over after such an end, if one may. */
  #otherAgent(end: TurnEnd): AgentSettings | undefined {
    if (this.#shown || this.#turn.cancelled) return undefined
    return failoverAfter(end, this.#turn, this.#others)
  }

  #moveOn(other: AgentSettings): void {
    this.#others = this.#others.slice(this.#others.indexOf(other) + 1)
    this.#retries = RETRIES
    this.#next = this.#late = undefined
    this.#announced = false
    this.#turn.link = undefined
    this.#turn.moveTo(other)
  }
}

/** The characters that each input of a client takes in memory besides its own, about. */
const INPUT_SIZE = 1024

function sizeOf(input: readonly Part[]): number {
  return INPUT_SIZE + JSON.stringify(input).length
}

function unsteerable({ name }: AgentSettings): Fault {
  return fault('invalid-request', `The agent "${name}" takes no input while it works; send it as a new turn.`)
}

/** The fault of input beyond what a turn may get, in characters. */
function tooMuch(most: number): Fault {
  const why = `This turn has got all the further input that it may (${most} characters, limit "body")`
  return fault('payload-too-large', `${why}; send it as a new turn.`)
}

/** A turn, with its run. */
export function newTurn(init: TurnInit<Turn>, peers: TurnPeers<Turn>): Turn {
  return new Turn(init, peers, (turn) => new TurnRun(turn, init.agents.slice(1)))
}
