import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  frameText,
} from '../../../../src/contract/index.ts'
import { type Command, type CommandOf, fault, type Id } from '../../../../src/model/index.ts'
import { CANCELLED, COMPLETED, endingOf, failed, type TurnEnding } from '../../endings.ts'
import { secretsOf } from '../../environment.ts'
import type { AgentProcOptions } from '../../options.ts'
import type { ReplyHost, TypedReply } from '../../typed-reply.ts'
import { isSentinel, otherWire, type TypedVersion } from '../../versions.ts'
import { Permissions } from './asks.ts'
import { Reply } from './reply.ts'
import { prepare } from './turn.ts'

/** The differences between versions of the wire, for their runner. */
export interface Wire {
  readonly version: TypedVersion
  /** Makes the reader of one run of an agent. */
  reply(turn: Id, options: AgentProcOptions, host: ReplyHost): TypedReply
}

/** A turn while its process runs. */
interface Run {
  turn: Id
  reply: TypedReply
  permissions: Permissions
  secrets: readonly string[]
  cancelled: boolean
  /** No line has come yet. */
  first: boolean
}

const CUT_OFF = fault('agent-crashed', 'The agent ended in the middle of an event; see its stderr in the gateway log.')

/** The runner of a wire of JSON lines: a process per turn, a turn object on its stdin, events on its stdout. */
class V04Back implements BackLink {
  readonly #wire: Wire
  readonly #context: BackContext<AgentProcOptions>
  readonly #ports: BackPorts
  #run: Run | undefined

  constructor(wire: Wire, context: BackContext<AgentProcOptions>, ports: BackPorts) {
    this.#wire = wire
    this.#context = context
    this.#ports = ports
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'ask-reply') this.#run?.permissions.reply(command.ask, command.reply)
    else if (command.type === 'turn-cancel' && this.#run) {
      // The wire has no cancel: the engine stops the process. An agent that waits for an answer gets one.
      this.#run.cancelled = true
      this.#run.permissions.deny()
    }
  }

  decode(frame: Frame): void {
    const run = this.#run
    if (!run) return
    const line = frameText(frame)
    if (run.first && isSentinel(line)) {
      this.#finish(run, failed(otherWire(this.#wire.version, line)!))
      return
    }
    run.first = false
    run.reply.line(line)
    if (run.reply.answered) this.#answered(run)
  }

  decodeEnd(end: CallEnd): void {
    const run = this.#run
    if (!run) return
    const { reply, secrets, cancelled } = run
    const told = endingOf({ end, error: reply.error, options: this.#context.options, secrets, cancelled })
    const incomplete = reply.cut ? CUT_OFF : reply.unreadable
    if (told.outcome !== 'completed') this.#finish(run, told)
    else if (incomplete) this.#finish(run, failed(incomplete))
    else this.#complete(run)
  }

  #start(start: CommandOf<'turn-start'>): void {
    const { turn } = start
    const prepared = prepare(this.#wire.version, this.#context, start, (loss) => this.#ports.report(loss, turn))
    if ('code' in prepared) {
      this.#ports.emit({ type: 'turn-end', turn, ...failed(prepared) })
      return
    }
    const permissions = new Permissions(turn, this.#ports)
    const host = {
      ports: this.#ports,
      permission: permissions.request.bind(permissions),
      failed: () => this.#failed(permissions),
    }
    const reply = this.#wire.reply(turn, this.#context.options, host)
    const secrets = secretsOf(this.#context, prepared.call.env)
    this.#run = { turn, reply, permissions, secrets, cancelled: false, first: true }
    this.#ports.emit({ type: 'turn-started', turn })
    this.#ports.open(prepared.call)
    this.#ports.send(prepared.line)
  }

  /** The result is the answer, whatever the process does or says after it; one that was asked to stop is cancelled. */
  #answered(run: Run): void {
    this.#stopAsking(run.permissions)
    if (run.cancelled) this.#finish(run, CANCELLED)
    else this.#complete(run)
  }

  /** A failure waits for the exit, which says more of it: the exit code, and stderr. */
  #failed(permissions: Permissions): void {
    this.#stopAsking(permissions)
    this.#ports.leave?.()
  }

  /** The agent may wait for the end of its input before it exits. */
  #stopAsking(permissions: Permissions): void {
    if (!this.#context.options.permission) return
    permissions.deny()
    this.#ports.end()
  }

  #complete(run: Run): void {
    if (run.reply.blank) {
      const text = 'The agent ended without an answer.'
      this.#ports.emit({ type: 'notice', turn: run.turn, severity: 'info', code: 'empty-answer', text })
    }
    this.#finish(run, COMPLETED)
  }

  #finish(run: Run, ending: TurnEnding): void {
    const { turn, reply, permissions } = run
    this.#run = undefined
    permissions.abandon()
    reply.close()
    if (reply.session !== undefined) {
      this.#ports.emit({ turn: null, type: 'session-bound', agentSession: reply.session })
    }
    this.#ports.emit({ type: 'turn-end', turn, ...(reply.ext && { ext: reply.ext }), ...ending })
  }
}

/** Opens the back half of a wire of JSON lines. */
export function openRunner(wire: Wire, context: BackContext<AgentProcOptions>, ports: BackPorts): BackLink {
  return new V04Back(wire, context, ports)
}

const WIRE: Wire = { version: '0.4', reply: (turn, options, host) => new Reply(turn, options, host) }

/** Opens the back half of wire 0.4. */
export function openBack(context: BackContext<AgentProcOptions>, ports: BackPorts): BackLink {
  return openRunner(WIRE, context, ports)
}
