import * as v from 'valibot'
import { ControlAsks, type JsonLine, type Reading } from '../../../src/codec-kit/index.ts'
import { member } from '../../../src/model/index.ts'
import { ControlRequest } from '../schema.ts'
import { readQuestion } from './questions.ts'
import type { TurnDecoder } from './turn.ts'

/** The questions of the agent: every request is answered, at once if no client can be asked. */
export class Asks extends ControlAsks<TurnDecoder> {
  /** A `control_request`. Without a turn only messages to a client's servers and hooks can be asked. */
  read(turn: TurnDecoder | undefined, { value, json }: JsonLine): Reading {
    if (!v.is(ControlRequest, value)) return 'misfit'
    const request = member(json, 'request_id')!
    const asked = readQuestion(value.request, member(json, 'request')!)
    if (!asked || (!turn && asked.question.kind !== 'client')) {
      const error = asked ? 'No turn is running: no client can be asked.' : 'The host cannot answer this request.'
      this.refuse(request, error)
      return asked ? 'read' : 'misfit'
    }
    const about = asked.tool === undefined ? undefined : turn?.main.running(asked.tool)
    const question = about === undefined ? asked.question : { ...asked.question, tool: about }
    this.put(request, { ...asked, question }, turn)
    return 'read'
  }

  /** `control_cancel_request`: the agent does not wait for the answer any more. */
  cancelled({ json }: JsonLine): void {
    const cancelled = member(json, 'request_id')
    this.settle('cancelled', ({ request }) => request === cancelled)
  }

  /** The turn ends: nothing of it can be answered any more. */
  turnEnds(): void {
    this.settle('cancelled', ({ turn }) => turn !== undefined)
  }
}
