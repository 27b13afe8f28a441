import * as v from 'valibot'
import type { ControlReply } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  type CommandOf,
  type Fault,
  fault,
  type JsonText,
  member,
  parseObject,
  replyData,
} from '../../../src/model/index.ts'
import { AvailableModels } from '../schema.ts'
import { PROTOCOL, toExt } from '../wire.ts'
import type { CliProcess } from './process.ts'
import { SETTINGS, type Setting } from './settings.ts'

/** A command that the agent answers outside of turns. */
type Outside = CommandOf<'config-set'> | CommandOf<'query'> | CommandOf<'foreign'>

/** The ways to answer a command. */
interface Answering {
  /** Answers it: data with the agent's own answer unchanged, or the reason why there is none. */
  done(answer: { data?: JsonText; raw?: JsonText; fault?: Fault }): void
  /** Makes the taker of an answer that continues with its payload; a refusal and a missing answer end the command. */
  orFail(then: (raw: JsonText) => void): (reply: ControlReply) => void
}

/** Does what the command says, and emits one `command-reply`. */
export function runCommand(command: Outside, process: CliProcess, ports: BackPorts): void {
  const { exchange } = command
  const done: Answering['done'] = ({ data, raw, fault }) => {
    const ext = toExt(raw)
    const said = { ...(data !== undefined && { data }), ...(fault && { fault }), ...(ext && { ext }) }
    ports.emit({ turn: null, type: 'command-reply', exchange, ...said })
  }
  const orFail: Answering['orFail'] = (then) => (reply) => {
    if (reply?.success) then(reply.raw)
    else done({ fault: process.faultOf(reply) })
  }
  process.handshake.whenDone(() => {
    if (process.dead) done({ fault: process.dead })
    else if (command.type === 'config-set') configure(command, process, { done, orFail })
    else if (command.type === 'query') query(command, process, { done, orFail })
    else forward(command, process, { done, orFail })
  })
}

/** The settings of a client for its session, one after the other. */
function configure(
  command: CommandOf<'config-set'>,
  { settings, controls }: CliProcess,
  { done, orFail }: Answering,
): void {
  const set = ([name, ...others]: readonly Setting[]): void => {
    const value = name && command[name]
    if (name === undefined) done({})
    else if (value === undefined) set(others)
    else {
      const kept = (): void => {
        settings.keep(name, value)
        set(others)
      }
      settings.send(controls, name, value, orFail(kept))
    }
  }
  set(SETTINGS)
}

function query({ what }: CommandOf<'query'>, { controls }: CliProcess, { done, orFail }: Answering): void {
  if (what !== 'models') {
    const text = `An agent of the protocol qwen-code cannot answer the query "${what}".`
    done({ fault: fault('invalid-request', text) })
    return
  }
  const list = (raw: JsonText): void => {
    const { success, output } = v.safeParse(AvailableModels, JSON.parse(raw))
    const text = "The agent's list of models has not the shape that is known."
    if (success) done({ data: replyData(output), raw })
    else done({ fault: fault('protocol-violation', text) })
  }
  controls.send('get_available_models', {}, orFail(list))
}

/**
 * A control request of a client of the same dialect, under an id of the gateway; its answer is passed back unchanged.
 */
function forward({ protocol, frame }: CommandOf<'foreign'>, { controls }: CliProcess, answering: Answering): void {
  const { done, orFail } = answering
  const pass = orFail((raw) => done({ raw }))
  const request = protocol === PROTOCOL && parseObject(frame) ? member(frame, 'request') : undefined
  const text = 'Only a control request can be handed to an agent of the protocol qwen-code.'
  if (request === undefined) done({ fault: fault('invalid-request', text) })
  else controls.sendRaw(request, pass)
}
