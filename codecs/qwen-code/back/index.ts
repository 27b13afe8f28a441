import * as v from 'valibot'
import { UnaskedOutput, unknownMembers } from '../../../src/codec-kit/index.ts'
import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  frameText,
} from '../../../src/contract/index.ts'
import {
  type Command,
  type CommandOf,
  fault,
  type Item,
  isRecord,
  type Loss,
  member,
  parse,
} from '../../../src/model/index.ts'
import { Result, SystemInit } from '../schema.ts'
import { CONTINUE, ownExt, PROTOCOL } from '../wire.ts'
import { Asks } from './asks.ts'
import { Commands, effortStep, modelStep } from './commands.ts'
import { faultOfText } from './errors.ts'
import { isOtherDialect, LINES, type Line, plainDelta, type Reading } from './lines.ts'
import { promptOf, userLine } from './prompt.ts'
import { readSystem } from './system.ts'
import { TurnDecoder } from './turn.ts'
import { AgentWire, type Death, type Step } from './wire.ts'

/** A turn on its way: `waiting` was not written yet. */
interface Work {
  decoder: TurnDecoder
  start: CommandOf<'turn-start'>
  stage: 'waiting' | 'sent'
  interrupting: boolean
}

const INIT = new Set(['type', 'subtype', 'uuid', 'session_id'])
const RESULT = new Set([
  'type',
  'subtype',
  'uuid',
  'session_id',
  'parent_tool_use_id',
  'is_error',
  'duration_ms',
  'result',
  'usage',
  'error',
])

const LOST: Death = {
  reason: fault('session-not-found', 'The agent cannot go on with this session.', { retry: 'fresh-session' }),
  stop: 'error',
}

/**
 * A running Qwen Code CLI: one process, one session, one turn at a time. Lines name no turn, so a message is sent only
 * after the `result` of the one before. A session that the gateway remembers is gone on with in a process of its own.
 */
export class QwenCodeBack implements BackLink {
  readonly #ports: BackPorts
  readonly #wire: AgentWire
  readonly #asks: Asks
  readonly #commands: Commands
  /** Its messages were meant for another client. */
  readonly #recorded: 'agent' | 'both' | undefined
  #work: Work | undefined
  /** A turn that the agent began itself, while none of ours runs. */
  #unasked: { decoder: TurnDecoder; output: UnaskedOutput; began: boolean } | undefined
  /** The commands that wait until that is over. */
  #afterUnasked: (() => void) | undefined
  #bound: string | undefined
  #heard = false
  /** The agent could not go on with its session, and no turn has got this as its error. */
  #lost = false

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    this.#ports = ports
    this.#recorded = context.recorded
    this.#wire = new AgentWire(context, ports)
    this.#asks = new Asks(ports, this.#wire)
    this.#commands = new Commands(this.#wire, ports)
  }

  open(bound?: string): void {
    this.#wire.resume(bound)
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'turn-cancel') this.#cancel()
    else if (command.type === 'ask-reply') {
      if (this.#asks.reply(command, this.#running())) this.#cancel()
    } else if (command.type === 'config-set' || command.type === 'query' || command.type === 'foreign') {
      this.#commands.run(command)
    }
  }

  decode(frame: Frame): void {
    if (!this.#wire.isCurrent(this.#wire.callOf(frame))) return
    const json = frameText(frame)
    const value = parse(json)
    if (!isRecord(value)) {
      if (json.trim() !== '') this.#unparsed('foreign')
      return
    }
    const turn = this.#running()
    const text = turn && value['type'] === 'stream_event' ? plainDelta(value) : undefined
    if (turn && text !== undefined) {
      turn.started()
      turn.main.answer.text(text)
    } else this.#read({ value, json }, turn)
  }

  decodeEnd(end: CallEnd): void {
    if (!this.#wire.isCurrent(end.call)) return
    if (this.#wire.startedAnew(end)) {
      this.#lost = true
      if (this.#work) this.#fail(LOST)
      return
    }
    if (this.#work && end.why === 'cancelled') this.#work.decoder.cancelAsked = true
    this.#die(this.#wire.reasonOf(end))
  }

  #die(dead: Death): void {
    this.#fail(dead)
    this.#endUnasked()
    this.#wire.die(dead)
  }

  #fail({ reason, stop }: Death): void {
    if (reason === LOST.reason) this.#lost = false
    const decoder = this.#work?.decoder
    this.#work = undefined
    if (decoder) this.#asks.turnEnds(decoder)
    decoder?.fail(reason, stop)
  }

  #read(line: Line, turn: TurnDecoder | undefined): void {
    const type = line.value['type']
    if (!this.#heard && isOtherDialect(line.value)) {
      this.#violate()
      return
    }
    this.#heard = true
    if (type === 'control_response') {
      const outcome = this.#wire.response(line.value, line.json)
      if (outcome === 'stray' && this.#recorded) {
        if (this.#recorded === 'agent') this.#foreign(line)
      } else if (outcome !== 'taken') this.#unparsed('command-reply')
    } else if (type === 'control_request') {
      if (this.#asks.read(turn, line) === 'misfit') this.#unparsed('ask')
    } else if (type === 'result') this.#result(line, turn)
    else if (type === 'system') this.#system(line, turn)
    else if (turn) this.#content(line, turn)
    else if (!LINES.has(type)) this.#foreign(line)
    // Before the greeting an agent has nothing to say.
    else if (this.#wire.greeted) this.#content(line, this.#openUnasked().decoder)
  }

  #content(line: Line, turn: TurnDecoder): void {
    const reader = LINES.get(line.value['type'])
    if (!reader) {
      this.#foreign(line)
      return
    }
    turn.started()
    this.#done(reader.read(turn, line), reader.item, line)
    if (line.value['type'] === 'user') this.#asks.toolEnded(turn, line)
  }

  #system(line: Line, turn: TurnDecoder | undefined): void {
    if (line.value['subtype'] === 'init') this.#init(line, turn)
    else if (turn) {
      turn.started()
      this.#done(readSystem(turn, line), 'notice', line)
    } else this.#foreign(line)
  }

  #init({ value, json }: Line, turn: TurnDecoder | undefined): void {
    const { success, output } = v.safeParse(SystemInit, value)
    if (!success) {
      this.#unparsed('turn-started')
      return
    }
    this.#wire.model = output.model ?? this.#wire.model
    if (turn && this.#work?.start.options.model === undefined) this.#wire.own = this.#wire.model
    this.#wire.version = output.qwen_code_version ?? this.#wire.version
    if (output.session_id) this.#inSession(output.session_id)
    turn?.started(unknownMembers(json, value, INIT))
    // Only what begins as turns do has a result to wait for.
    if (!turn && this.#wire.greeted) this.#openUnasked().began = true
  }

  /** The session that the agent works in: reported once a turn is in it, and again when the agent changes it. */
  #inSession(session: string): void {
    this.#wire.session = session
    if (session === this.#bound) return
    this.#bound = session
    this.#ports.emit({ turn: null, type: 'session-bound', agentSession: session })
  }

  #result({ value, json }: Line, turn: TurnDecoder | undefined): void {
    const { success, output } = v.safeParse(Result, value)
    if (!success) {
      this.#unparsed('turn-end')
      const text = 'The agent ended the turn in a way that cannot be read.'
      this.#fail({ reason: fault('protocol-violation', text), stop: 'error' })
      return
    }
    if (!turn) {
      // An agent that cannot start says why in a result, before it ends.
      if (!this.#wire.greeted && output.is_error) this.#wire.refusal = faultOfText(output.error?.message)
      this.#unasked?.decoder.result(output, this.#wire.version, undefined)
      this.#endUnasked()
      return
    }
    turn.started()
    if (output.session_id) this.#inSession(output.session_id)
    this.#asks.turnEnds(turn)
    this.#work = undefined
    turn.result(output, this.#wire.version, unknownMembers(json, value, RESULT))
  }

  /** Opens a turn for the agent's output while no message is answered, such as a job that it finished by itself. */
  #openUnasked(): { decoder: TurnDecoder; began: boolean } {
    if (!this.#unasked) {
      const output = new UnaskedOutput(this.#ports)
      const decoder = new TurnDecoder(output.ports, '', this.#wire.meter)
      this.#unasked = { output, decoder, began: false }
    }
    return this.#unasked
  }

  #endUnasked(): void {
    this.#unasked?.output.tell()
    this.#unasked = undefined
    const next = this.#afterUnasked
    this.#afterUnasked = undefined
    next?.()
  }

  #start(start: CommandOf<'turn-start'>): void {
    const decoder = new TurnDecoder(this.#ports, start.turn, this.#wire.meter)
    const work: Work = { decoder, start, stage: 'waiting', interrupting: false }
    this.#work = work
    const bound = start.session?.bound
    this.#bound = bound
    if (this.#lost && bound !== undefined) {
      this.#fail(LOST)
      return
    }
    this.#lost = false
    if (!this.#wire.dead && this.#wire.isElsewhere(bound)) this.#wire.restart(bound ?? this.#wire.session)
    this.#wire.ready(() => {
      // Lines name no turn: those of a turn that the agent began itself would be taken for those of this one.
      this.#afterUnasked = () => this.#configure(work)
      if (!this.#unasked?.began) this.#endUnasked()
    })
  }

  /** A message cannot name a model or an effort: others than the agent's are set first, and the session's own again. */
  #configure(work: Work): void {
    if (this.#work !== work) return
    const { dead } = this.#wire
    if (dead) {
      this.#work = undefined
      work.decoder.fail(dead.reason, dead.stop)
      return
    }
    const [setting] = this.#wire.unset
    if (setting) {
      this.#restore(work, setting)
      return
    }
    // In a recording they were set, or did not need to be.
    const { model, effort } = this.#recorded ? {} : { model: this.#wire.own, ...work.start.options }
    if (model !== undefined && model !== this.#wire.model) this.#set(work, 'option.model', modelStep(model, this.#wire))
    else if (effort !== undefined && effort !== this.#wire.effort) {
      this.#set(work, 'option.effort', effortStep(effort, this.#wire))
    } else this.#prompt(work)
  }

  #set(work: Work, item: 'option.model' | 'option.effort', step: Step): void {
    this.#wire.set(step, (reply) => {
      if (reply && !reply.success) this.#report({ kind: 'dropped', item, why: 'unknown', count: 1 })
      // Refused or not, it is not asked for again in this turn.
      if (reply) step.done()
      this.#configure(work)
    })
  }

  /** Applies a client's setting to a process that replaced another one; the turn does not run without it. */
  #restore(work: Work, setting: Step): void {
    this.#wire.set(setting, (reply) => {
      if (reply?.success) {
        setting.done()
        this.#wire.unset.delete(setting)
      }
      if (this.#work !== work || !reply) return
      if (reply.success) this.#configure(work)
      else this.#fail({ reason: fault('invalid-request', notKept(setting, reply.error)), stop: 'error' })
    })
  }

  #prompt(work: Work): void {
    const { start } = work
    if (member(ownExt(start.ext) ?? '{}', CONTINUE) === 'true') {
      this.#goOn(work)
      return
    }
    const { text, system } = promptOf(start, this.#wire.system, (loss) => this.#report(loss))
    if (text.trim() === '') {
      this.#work = undefined
      work.decoder.fail(fault('invalid-request', 'The prompt has no text, and the agent would not answer it.'))
      return
    }
    const extra = ownExt(start.ext)
    if (start.ext && extra === undefined) {
      this.#report({ kind: 'dropped', item: 'ext', field: start.ext.protocol, why: 'no-place', count: 1 })
    }
    this.#wire.system = system
    work.stage = 'sent'
    this.#wire.send(userLine(text, this.#wire.session, extra))
  }

  /** The turn goes on with one that was interrupted: the CLI has a request for it, and no prompt. */
  #goOn(work: Work): void {
    work.stage = 'sent'
    this.#wire.request(CONTINUE, [], (reply) => {
      if (!reply || this.#work !== work) return
      if (reply.success && member(reply.raw, 'accepted') === 'true') return
      this.#work = undefined
      const why = reply.success ? 'it has nothing to go on with' : reply.error
      work.decoder.fail(fault('invalid-request', `The agent does not continue its last turn: ${why}.`))
    })
  }

  #cancel(): void {
    const work = this.#work
    if (!work || work.interrupting) return
    work.decoder.cancelAsked = true
    if (work.stage === 'waiting') {
      this.#work = undefined
      work.decoder.cancelled()
      return
    }
    work.interrupting = true
    this.#wire.request('interrupt', [], (reply) => {
      // An interrupt that comes when the turn is over makes 0.15 deaf to every later message.
      if (reply && this.#work !== work) this.#wire.suspect = true
    })
  }

  #running(): TurnDecoder | undefined {
    return this.#work?.stage === 'sent' ? this.#work.decoder : undefined
  }

  #done(reading: Reading, item: Item, line: Line): void {
    if (reading === 'misfit') this.#unparsed(item)
    else if (reading === 'foreign') this.#foreign(line)
  }

  #foreign({ json }: Line): void {
    this.#ports.emit({ turn: this.#running()?.turn ?? null, type: 'foreign', protocol: PROTOCOL, frame: json })
  }

  #violate(): void {
    const text =
      'The agent speaks the protocol of the RFC, not that of the shipped Qwen Code: set `protocol: qwen` in its configuration.'
    const reason = fault('protocol-violation', text)
    this.#die({ reason, stop: 'error' })
    this.#ports.broken(reason)
  }

  #unparsed(item: Item): void {
    this.#report({ kind: 'unparsed', item, why: 'unknown', count: 1 })
  }

  #report(loss: Loss): void {
    if (this.#work) this.#ports.report(loss, this.#work.decoder.turn)
  }
}

function notKept({ subtype }: Step, error: string): string {
  return `The agent had to be started again and refuses what its client has set (${subtype}: ${error}); set something else.`
}
