import * as v from 'valibot'
import { UnaskedTurn } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type Fault, isRecord } from '../../../src/model/index.ts'
import { TurnOpened } from '../schema.ts'
import { textMember } from './forms.ts'
import type { Lane } from './lane.ts'
import type { Thread } from './thread.ts'
import { TurnDecoder } from './turn.ts'
import type { Work } from './work.ts'

/** The turns of the process, and which of them a message is about: one of a client, or one that the agent began itself. */
export class Turns {
  readonly unasked: UnaskedTurn<TurnDecoder>
  readonly #thread: Thread
  #work: Work | undefined

  constructor(thread: Thread, ports: BackPorts) {
    this.#thread = thread
    this.unasked = new UnaskedTurn(ports, (own) => new TurnDecoder(own, { turn: '', task: 'prompt' }, thread.usage))
  }

  /** The client's turn that has no end yet. */
  get current(): Work | undefined {
    return this.#work?.decoder.ended === false ? this.#work : undefined
  }

  set current(work: Work) {
    this.#work = work
  }

  /** `turn/started`. One that no client asked for is the agent's own. */
  started(params: unknown): void {
    if (!v.is(TurnOpened, params) || !this.#isMain(params)) return
    const work = this.#workOf(params)
    if (work) {
      const thread = textMember(params, 'threadId')
      if (thread !== undefined && thread !== this.#thread.id) this.#thread.adopt(thread)
      if (work.id === undefined) work.running(params.turn.id)
      return
    }
    this.unasked.open()
    this.unasked.began = true
  }

  /** `turn/completed`; `ends` runs before the end of a client's turn. */
  completed(params: unknown, ends: () => void): void {
    const work = this.#workOf(params)
    if (!this.#isMain(params)) work?.decoder.lane(textMember(params, 'threadId')!).end()
    else if (work) {
      ends()
      work.decoder.started()
      work.decoder.completed(params)
    } else {
      this.unasked.decoder?.completed(params)
      this.unasked.end()
    }
  }

  /** The turn that a message is about. A message without a turn, while no turn of a client runs, is not output. */
  decoderOf(params: unknown): TurnDecoder | undefined {
    const decoder = this.#workOf(params)?.decoder
    return decoder ?? (turnIdOf(params) === undefined ? undefined : this.unasked.open())
  }

  /** The thread that a message of a turn is about: the main one, or a sub-agent's. */
  lane(decoder: TurnDecoder, params: unknown): Lane {
    return this.#isMain(params) ? decoder.main : decoder.lane(textMember(params, 'threadId')!)
  }

  /** The same for a message of a client's turn; undefined when it is about none. */
  laneOf(params: unknown): Lane | undefined {
    const work = this.#workOf(params)
    return work && this.lane(work.decoder, params)
  }

  /** The process is gone. */
  end(reason: Fault, cancelled: boolean): void {
    const work = this.current
    if (work && cancelled) work.decoder.cancelAsked = true
    work?.decoder.fail(reason)
    this.unasked.end()
  }

  /** The client's turn that a message is about. Those of sub-agents belong to the turn that runs. */
  #workOf(params: unknown): Work | undefined {
    const work = this.current
    if (!work?.sent) return undefined
    const id = turnIdOf(params)
    return id === undefined || work.id === undefined || id === work.id || !this.#isMain(params) ? work : undefined
  }

  #isMain(params: unknown): boolean {
    const thread = textMember(params, 'threadId')
    return thread === undefined || this.#thread.id === undefined || thread === this.#thread.id
  }
}

/** The id of the turn that a message is about, if it names one. */
function turnIdOf(params: unknown): string | undefined {
  return textMember(params, 'turnId') ?? (isRecord(params) ? textMember(params['turn'], 'id') : undefined)
}
