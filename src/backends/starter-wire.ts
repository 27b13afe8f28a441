import { rmSync } from 'node:fs'
import type { AgentStart } from './agent-process.ts'

/** What a gateway and its starter say to each other: JSON, one message a line. */

/** The first line for the starter: where its gateway listens, and what tells the gateway that a connection is its. */
export interface StarterSetup {
  path: string
  secret: string
}

/** The other lines for it: an agent to start. */
export interface StarterOrder extends Omit<AgentStart, 'shortInput'> {
  id: number
  /** Whether it has a stdin of its own; else it gets one that is at its end. */
  input: boolean
}

/** What the starter says: that it takes orders, and what became of the agent of one. */
export type StarterReport =
  | readonly ['ready']
  | readonly ['started', id: number, pid: number]
  | readonly ['failed', id: number, code: string]
  | readonly ['exited', id: number, exitCode: number | null, signal: string | null]

/** The streams of an agent, each a connection from the starter to its gateway. */
export type Channel = 'in' | 'out' | 'err'

/** The first line on such a connection; everything after it is the agent's. */
export function connectionHead(secret: string, id: number, channel: Channel): string {
  return `${secret} ${id} ${channel}\n`
}

/** The longest such line, in characters. */
export const MAX_HEAD = 80

/** The number on the starter's own connection, which is closed by the gateway: the input of agents that have none. */
export const NO_AGENT = 0

/** A function that takes text as it comes and gives on each message that it completes. */
export function messageReader<T>(onMessage: (message: T) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onMessage(JSON.parse(line))
  }
}

/** Removes the folder that they meet in; where that cannot be, an empty folder is left. Never throws. */
export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // It is read before it is removed, which takes a descriptor.
  }
}
