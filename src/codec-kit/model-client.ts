import type { Answer, FrontContext, FrontPorts } from '../contract/index.ts'
import type { Command, Id } from '../model/index.ts'
import { commandsOf, type RequestEnd } from './request-commands.ts'
import { type StartRequest, settingsOf, startCommand } from './request-start.ts'

/** `coder:gpt-5` is the agent `coder`, which is to use the model `gpt-5`. */
export function agentOf(model: string): [agent: string, model: string | undefined] {
  const colon = model.indexOf(':')
  return colon < 0 ? [model, model === '' ? undefined : model] : [model.slice(0, colon), model.slice(colon + 1)]
}

/**
 * The answer to a request of a client of models, which leaves with its client. Calls of its tools end it: the turn is
 * parked until the next request brings their results.
 */
export function toolAnswer(streams: boolean, command: Command): Answer {
  const asks =
    command.type === 'ask-reply' || (command.type === 'turn-start' && command.clientTools) ? 'next-request' : 'never'
  const common = { onDisconnect: 'cancel', asks } as const
  return streams ? { form: 'stream', framing: 'sse', ...common } : { form: 'whole', framing: 'body', ...common }
}

/**
 * Sends the commands of a request of a client of models: first cancels the turn that it abandons, then sends its own
 * command with the answer that `answerTo` makes for it. A request that goes on with a turn brings its options and tools
 * too. When that turn has ended without it, one with the whole conversation begins another.
 */
export function sendRequest(
  request: StartRequest & RequestEnd,
  { headers }: FrontContext,
  ports: FrontPorts,
  exchange: Id,
  answerTo: (command: Command) => Answer,
): void {
  const start = (): Command => startCommand(request, headers, exchange, ports.newId())
  const { before, command } = commandsOf(request, exchange, start)
  for (const cancel of before) ports.command(cancel)
  if (command.type !== 'ask-reply') {
    ports.command(command, answerTo(command))
    return
  }
  const full = { ...command, settings: settingsOf(request) }
  const answer = answerTo(full)
  if (isWhole(request)) answer.otherwise = start
  ports.command(full, answer)
}

/** True when a turn can begin with all that the request says: it names no earlier one, and only results of tools. */
function isWhole({ after, conversation, answers = [] }: StartRequest & RequestEnd): boolean {
  return after === undefined && conversation === undefined && answers.length === 0
}
