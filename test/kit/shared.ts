/** The plain protocol with several sessions in a process: each line begins with the number of its link. */
import {
  type Call,
  type CallEnd,
  type CallHandle,
  type CallSink,
  frameText,
  type Multiplexer,
} from '../../src/contract/index.ts'
import { SharedProcesses } from '../../src/engine/agent/shared-processes.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import { plainAgent, plainBack } from './plain.ts'
import { ScriptedBackend } from './scripted-backend.ts'

/** A multiplexer by numbers: `ask` is owed an answer, which is `done`. */
const numbered: NonNullable<AgentSettings['dialect']['back']['multiplex']> = ({ toProcess, toLink }): Multiplexer => {
  const working = new Set<number>()
  return {
    fromLink(link, frame) {
      if (frame === 'ask') working.add(link)
      toProcess(`${link} ${frameText(frame)}`)
    },
    fromProcess(frame) {
      const [link, word] = frameText(frame).split(' ')
      if (word === 'done') working.delete(Number(link))
      toLink(Number(link), word!)
    },
    leave: (link) => toProcess(`${link} leave`),
    works: (link) => working.has(link),
  }
}

/** A call of a link, and what it was given. */
export interface Linked {
  handle: CallHandle
  read: string
  end: CallEnd | undefined
  outputEnded: number
  started: number
}

/** The shared processes of an agent, whose calls a test plays; `open` opens a part of one. */
export function sharedProcesses(sessions: number, max: number) {
  const backend = new ScriptedBackend()
  const dialect = plainBack({ persistent: true })
  const agent = plainAgent('', {
    backend,
    dialect: { ...dialect, back: { ...dialect.back, multiplex: numbered } },
    pool: { warm: 0, max, idle: 1000, sessions },
  })
  const it = new SharedProcesses(agent, () => max)
  const open = (cwd = '/'): Linked => {
    const link: Linked = { handle: undefined!, read: '', end: undefined, outputEnded: 0, started: 0 }
    const call: Call = { kind: 'process', stdin: 'open', cwd }
    const sink: CallSink = {
      data(text) {
        link.read += text
      },
      started() {
        link.started += 1
      },
      dataEnd() {
        link.outputEnded += 1
      },
      end(end) {
        link.end = end
      },
    }
    link.handle = it.open(call, sink, {})
    return link
  }
  return { it, agent, backend, open }
}

/** What is done in the next step of the event loop is done. */
export const nextStep = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
