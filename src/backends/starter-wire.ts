import type { AgentStart } from './agent-process.ts'
import type { AgentEnds } from './piped-process.ts'

/** The messages between a gateway and its starter: JSON, one per line. */

/** The first line for the starter: its gateway's process id, and a descriptor of it to test that they can be opened. */
export interface StarterSetup {
  gateway: number
  probe: number
}

/** The other lines for it: an agent to start, on descriptors of the gateway that are open until it reports. */
export interface StarterOrder extends AgentStart {
  id: number
  ends: AgentEnds
}

/** A report of the starter: it takes orders, or the state of the agent of an order. */
export type StarterReport =
  | readonly ['ready']
  | readonly ['started', id: number, pid: number]
  | readonly ['failed', id: number, code: string]
  | readonly ['exited', id: number, exitCode: number | null, signal: string | null]

/** A function that takes text in chunks and calls `onMessage` for each complete message. Throws on invalid JSON. */
export function messageReader<T>(onMessage: (message: T) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onMessage(JSON.parse(line))
  }
}
