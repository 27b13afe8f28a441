import * as v from 'valibot'
import { askIdOf, controlResponse, type JsonLine, type Reading } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type CommandOf, type Id, type JsonText, member } from '../../../src/model/index.ts'
import { ControlRequest } from '../schema.ts'
import { type Asked, readQuestion } from './questions.ts'
import type { TurnDecoder } from './turn.ts'

/** An open question: `request` is its id as the agent wrote it. */
type Open = Asked & { request: JsonText; turn: TurnDecoder | undefined }

/** The questions of the agent: every request is answered, at once if no client can be asked. */
export class Asks {
  readonly #ports: BackPorts
  readonly #open = new Map<Id, Open>()

  constructor(ports: BackPorts) {
    this.#ports = ports
  }

  /** A `control_request`. Without a turn only messages to a client's servers and hooks can be asked. */
  read(turn: TurnDecoder | undefined, { value, json }: JsonLine): Reading {
    if (!v.is(ControlRequest, value)) return 'misfit'
    const request = member(json, 'request_id')!
    const asked = readQuestion(value.request, member(json, 'request')!)
    if (!asked || (!turn && asked.question.kind !== 'client')) {
      const error = asked ? 'No turn is running: no client can be asked.' : 'The host cannot answer this request.'
      this.#ports.send(controlResponse(request, { error }))
      return asked ? 'read' : 'misfit'
    }
    const ask = askIdOf(request, this.#open)
    const about = asked.tool === undefined ? undefined : turn?.main.running(asked.tool)
    const question = about === undefined ? asked.question : { ...asked.question, tool: about }
    this.#open.set(ask, { ...asked, request, turn })
    this.#ports.emit({ turn: turn?.turn ?? null, type: 'ask', ask, question })
    return 'read'
  }

  /** `control_cancel_request`: the agent does not wait for the answer any more. */
  cancelled({ json }: JsonLine): void {
    const request = member(json, 'request_id')
    for (const [ask, open] of this.#open) if (open.request === request) this.#settle(ask, open)
  }

  /** The client's answer; one for a question that is settled already is ignored. True when the turn must stop. */
  reply(command: CommandOf<'ask-reply'>): boolean {
    const ask = command.ask ?? [...this.#open.keys()].at(0)
    const open = ask === undefined ? undefined : this.#open.get(ask)
    if (!open) return false
    this.#open.delete(ask!)
    const verdict = open.answer(command.reply)
    const error = 'The host gave an answer of another kind, or none.'
    this.#ports.send(controlResponse(open.request, verdict ? { payload: verdict.json } : { error }))
    if ((!verdict || verdict.refused) && open.tool !== undefined) open.turn?.denied.add(open.tool)
    return verdict?.stops === true
  }

  /** The turn ends: nothing of it can be answered any more. */
  turnEnds(): void {
    for (const [ask, open] of this.#open) if (open.turn) this.#settle(ask, open)
  }

  #settle(ask: Id, { turn }: Open): void {
    this.#open.delete(ask)
    this.#ports.emit({ turn: turn?.turn ?? null, type: 'ask-settled', ask, how: 'cancelled' })
  }
}
