import * as v from 'valibot'
import type { ControlReply } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type CommandOf, type Fault, fault, type JsonText, quote, replyData } from '../../../src/model/index.ts'
import { Greeting } from '../schema.ts'
import { MODEL, modelsOf, offersOf } from './offers.ts'
import type { ClaudeProcess } from './process.ts'

type Outside = CommandOf<'config-set'> | CommandOf<'query'>

/** Does what the command says outside of turns, and emits one `command-reply`. */
export function runCommand(command: Outside, process: ClaudeProcess, ports: BackPorts): void {
  const { exchange } = command
  const done = (answer: { data?: JsonText; fault?: Fault }): void =>
    ports.emit({ turn: null, type: 'command-reply', exchange, ...answer })
  process.handshake.whenDone(() => {
    if (process.dead) done({ fault: process.dead })
    else if (command.type === 'query') done(query(command, process))
    else configure(command, process, done)
  })
}

/** The models of the handshake, or all that the agent offers. */
function query(
  { what }: CommandOf<'query'>,
  { greeting, mode, model }: ClaudeProcess,
): { data?: JsonText; fault?: Fault } {
  const about = v.parse(Greeting, JSON.parse(greeting))
  if (what === 'offers') return { data: replyData(offersOf(about, { mode, model: model.own })) }
  if (what === 'models' && about.models)
    return { data: replyData({ models: modelsOf(about).map(({ value: id }) => ({ id })) }) }
  const text = `An agent of the protocol claude-code cannot answer the query "${what}".`
  return { fault: fault('invalid-request', text) }
}

/** Sets the model and the permission mode of the session. */
function configure(
  { model: named, mode, effort, option }: CommandOf<'config-set'>,
  process: ClaudeProcess,
  done: (answer: { fault?: Fault }) => void,
): void {
  const model = option?.id === MODEL ? String(option.value) : named
  if (effort !== undefined || (option !== undefined && option.id !== MODEL)) {
    const text = 'An agent of the protocol claude-code can be set to a model and a mode only.'
    done({ fault: fault('invalid-request', text) })
    return
  }
  const orFail = (then: () => void) => (reply: ControlReply) => {
    if (reply?.success) then()
    else done({ fault: process.faultOf(reply) })
  }
  const setModel = (): void => {
    process.mode = mode ?? process.mode
    if (model === undefined) done({})
    else {
      const kept = (): void => {
        process.model.own = model
        process.model.now = model
        done({})
      }
      process.controls.send('set_model', { model: quote(model) }, orFail(kept))
    }
  }
  if (mode === undefined) setModel()
  else process.controls.send('set_permission_mode', { mode: quote(mode) }, orFail(setModel))
}
