import { weakened } from '../../../src/codec-kit/index.ts'
import type { Answer, FrontPorts } from '../../../src/contract/index.ts'
import type { Ext, Id, Part, TurnOptions } from '../../../src/model/index.ts'

/** A prompt or compact of a client. `id` is the client's own. */
export interface Prompt {
  command: 'prompt' | 'compact'
  id?: string | undefined
  input: readonly Part[]
  ext?: Ext | undefined
}

/** A prompt with its turn. `session` is the one that it continues. */
export interface Started extends Prompt {
  exchange: Id
  turn: Id
  session: Id
  options: TurnOptions
}

/** Starts the turn of a prompt. `appended`: its system prompt was only to follow the agent's own. */
export function startTurn(ports: FrontPorts, started: Started, appended: boolean, answer: Answer): void {
  const { exchange, turn, session, command, id, input, options, ext } = started
  const request = { ...(id !== undefined && { request: id }), input, options, ...(ext && { ext }) }
  ports.command({ exchange, session: { id: session }, type: 'turn-start', turn, task: command, ...request }, answer)
  // Behind the gateway there is no telling where the agent's own system prompt would go on.
  if (appended) ports.report(weakened('option.systemPrompt', 'append'), exchange)
}
