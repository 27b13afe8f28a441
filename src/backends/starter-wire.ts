import { rmdirSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import type { AgentStart } from './agent-process.ts'

/** What a gateway and its starter say to each other: JSON, one message a line. */

/** The first line for the starter: where its gateway listens, and what tells the gateway that a connection is its. */
export interface StarterSetup {
  path: string
  secret: string
}

/** The other lines for it. */
export type StarterMessage = StarterOrder | StarterGo

/** An agent to start, as soon as its streams are connected and the gateway has them. */
export interface StarterOrder extends Omit<AgentStart, 'shortInput'> {
  id: number
  /** Whether it has a stdin of its own; else it gets one that is at its end. */
  input: boolean
}

/**
 * The gateway has all streams of an agent. A connection that is made is not accepted yet: the system closes it where the
 * gateway has no descriptor left for it.
 */
export interface StarterGo {
  go: number
}

/** What the starter says: that it takes orders, and what became of the agent of one. */
export type StarterReport =
  | readonly ['ready']
  | readonly ['started', id: number, pid: number]
  | readonly ['failed', id: number, code: string]
  | readonly ['exited', id: number, exitCode: number | null, signal: string | null]

/** The streams of an agent, each a connection from the starter to its gateway. */
export type Channel = 'in' | 'out' | 'err'

/** The first line on such a connection; everything after it is the agent's. The gateway says nothing before its start. */
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

/**
 * Removes the socket that they meet at, and its folder where nothing else is in it. Takes no descriptor, and never more
 * than that: whoever starts the program may name any path. Never throws.
 */
export function removeSocket(path: string): void {
  for (const remove of [() => unlinkSync(path), () => rmdirSync(dirname(path))]) {
    try {
      remove()
    } catch {
      // The other one has done it, or somebody else is to.
    }
  }
}
