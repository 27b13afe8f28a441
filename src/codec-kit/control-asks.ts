import type { BackPorts } from '../contract/index.ts'
import type { AskReply, CommandOf, Ext, Id, JsonText, Question } from '../model/index.ts'
import { askIdOf } from './ask-ids.ts'
import { controlResponse } from './control-requests.ts'
import { weakened } from './losses.ts'

/** A question of the agent, and how its answer is written. */
export interface ControlAsk {
  question: Question
  /** The wire's id of the tool that it is about. */
  tool?: string
  /** The members that the question has no place for. */
  ext?: Ext | undefined
  /** Undefined for an answer of another kind. */
  answer(reply: AskReply): ControlVerdict | undefined
}

/** The payload of an answer, and whether it refuses the tool or stops the turn. */
export interface ControlVerdict {
  json: JsonText
  refused?: boolean
  stops?: boolean
  /** It consents to other arguments, which the agent cannot take. */
  edited?: boolean
}

/** The turn of a question; `denied` gets the tools that the client refuses. */
interface AskedTurn {
  readonly turn: Id
  readonly denied: Set<string>
}

/** An open question; `request` is its id as the agent wrote it. */
interface Open<Turn> extends ControlAsk {
  request: JsonText
  turn: Turn | undefined
}

/** The questions of an agent that asks by `control_request` lines, and the answers to them. */
export class ControlAsks<Turn extends AskedTurn> {
  readonly #ports: BackPorts
  readonly #open = new Map<Id, Open<Turn>>()

  constructor(ports: BackPorts) {
    this.#ports = ports
  }

  /** Puts a question to the client. `request` is the raw id of its request. */
  put(request: JsonText, asked: ControlAsk, turn: Turn | undefined): void {
    const ask = askIdOf(request, this.#open)
    const { question, ext } = asked
    this.#open.set(ask, { ...asked, request, turn })
    this.#ports.emit({ turn: turn?.turn ?? null, type: 'ask', ask, question, ...(ext && { ext }) })
  }

  /** Refuses a request that no client can be asked, because the agent would wait for its answer. */
  refuse(request: JsonText, error: string): void {
    this.#ports.send(controlResponse(request, { error }))
  }

  /** The client's answer; one for a question that is settled already is ignored. True when the turn must stop. */
  reply(command: CommandOf<'ask-reply'>): boolean {
    const ask = command.ask ?? [...this.#open.keys()].at(0)
    const open = ask === undefined ? undefined : this.#open.get(ask)
    if (!open) return false
    this.#open.delete(ask!)
    const { request, tool, turn } = open
    const verdict = open.answer(command.reply)
    if (verdict?.edited) this.#ports.report(weakened('ask-reply', 'edited'), turn!.turn)
    if (verdict) this.#ports.send(controlResponse(request, { payload: verdict.json }))
    else this.refuse(request, 'The host gave an answer of another kind, or none.')
    if ((!verdict || verdict.refused) && tool !== undefined) turn?.denied.add(tool)
    return verdict?.stops === true
  }

  /** Settles the questions that need no answer any more. */
  settle(how: 'timeout' | 'cancelled', isOver: (open: Open<Turn>) => boolean): void {
    for (const [ask, open] of this.#open) {
      if (!isOver(open)) continue
      this.#open.delete(ask)
      this.#ports.emit({ turn: open.turn?.turn ?? null, type: 'ask-settled', ask, how })
    }
  }
}
