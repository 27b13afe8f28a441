import * as v from 'valibot'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  type CommandOf,
  type Fault,
  fault,
  type Id,
  type JsonText,
  member,
  parseObject,
  quote,
  replyData,
} from '../../../src/model/index.ts'
import { AvailableModels } from '../schema.ts'
import { PROTOCOL, toExt } from '../wire.ts'
import type { AgentWire, Reply, Step } from './wire.ts'

type Asked = CommandOf<'config-set'> | CommandOf<'query'> | CommandOf<'foreign'>

/** The commands that the agent answers outside of turns; each ends with one `command-reply`. */
export class Commands {
  readonly #wire: AgentWire
  readonly #ports: BackPorts

  constructor(wire: AgentWire, ports: BackPorts) {
    this.#wire = wire
    this.#ports = ports
  }

  /** Does what the command says. */
  run(command: Asked): void {
    this.#wire.ready(() => {
      if (command.type === 'config-set') this.#configure(command.exchange, configSteps(command, this.#wire))
      else if (command.type === 'query') this.#query(command)
      else this.#foreign(command)
    })
  }

  #configure(exchange: Id, [step, ...rest]: readonly Step[]): void {
    if (!step) {
      this.#done(exchange, {})
      return
    }
    this.#wire.set(step, (reply) => {
      if (!reply?.success) {
        this.#failed(exchange, reply)
        return
      }
      step.done()
      this.#wire.keep(step)
      if (step.subtype === 'set_model') this.#wire.own = this.#wire.model
      this.#configure(exchange, rest)
    })
  }

  #query({ exchange, what }: CommandOf<'query'>): void {
    if (what !== 'models') {
      const text = `An agent of the protocol qwen-code cannot answer the query "${what}".`
      this.#done(exchange, { fault: fault('invalid-request', text) })
      return
    }
    this.#wire.request('get_available_models', [], (reply) => {
      if (!reply?.success) {
        this.#failed(exchange, reply)
        return
      }
      const { success, output } = v.safeParse(AvailableModels, JSON.parse(reply.raw))
      if (!success) {
        const text = "The agent's list of models has not the shape that is known."
        this.#done(exchange, { fault: fault('protocol-violation', text) })
        return
      }
      const models = output.models.map(({ id, contextWindowSize }) => ({
        id,
        ...(contextWindowSize !== undefined && { contextWindow: contextWindowSize }),
      }))
      this.#done(exchange, { data: replyData({ models }), raw: reply.raw })
    })
  }

  /** A control request of a client of the same dialect, under an id of our own; its answer goes back as it came. */
  #foreign({ exchange, protocol, frame }: CommandOf<'foreign'>): void {
    const request = protocol === PROTOCOL && parseObject(frame) ? member(frame, 'request') : undefined
    if (request === undefined) {
      const text = 'Only a control request can be handed to an agent of the protocol qwen-code.'
      this.#done(exchange, { fault: fault('invalid-request', text) })
      return
    }
    this.#wire.requestRaw(request, (reply) => {
      if (reply?.success) this.#done(exchange, { raw: reply.raw })
      else this.#failed(exchange, reply)
    })
  }

  #failed(exchange: Id, reply: Exclude<Reply, { success: true }>): void {
    const reason = reply ? fault('invalid-request', reply.error) : fault('agent-crashed', GONE)
    this.#done(exchange, { fault: this.#wire.dead?.reason ?? reason })
  }

  #done(exchange: Id, { data, fault, raw }: { data?: JsonText; fault?: Fault; raw?: JsonText }): void {
    const ext = toExt(raw)
    this.#ports.emit({
      turn: null,
      type: 'command-reply',
      exchange,
      ...(data !== undefined && { data }),
      ...(fault && { fault }),
      ...(ext && { ext }),
    })
  }
}

const GONE = "The agent's process ended before it had answered; try again."

/** The control requests that a change of configuration takes. */
function configSteps({ model, mode, effort }: CommandOf<'config-set'>, wire: AgentWire): Step[] {
  const steps: Step[] = []
  if (model !== undefined) steps.push(modelStep(model, wire))
  if (effort !== undefined) steps.push(effortStep(effort, wire))
  if (mode !== undefined) {
    steps.push({ subtype: 'set_permission_mode', fields: [['mode', quote(mode)]], unset() {}, done() {} })
  }
  return steps
}

/** `set_model`. */
export function modelStep(model: string, wire: AgentWire): Step {
  return {
    subtype: 'set_model',
    fields: [['model', quote(model)]],
    unset() {
      wire.model = undefined
    },
    done() {
      wire.model = model
    },
  }
}

/** `set_effort`, which 0.15 does not know. */
export function effortStep(effort: string, wire: AgentWire): Step {
  return {
    subtype: 'set_effort',
    fields: [['effort', quote(effort)]],
    unset() {
      wire.effort = undefined
    },
    done() {
      wire.effort = effort
    },
  }
}
