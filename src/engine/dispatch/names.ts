import { type Command, type CommandOf, type Fault, fault, type SessionRef } from '../../model/index.ts'

/** The longest name that a client may give, in UTF-16 units: names are keys of the record, and stay in memory. */
const LONGEST = 512

/** The same for what programs put together: paths, values of options, and users with their attributes. */
const LONGEST_COMPOSED = 4096

/** The fault of a command with a name that is too long to be kept. */
export function nameFault(command: Command): Fault | undefined {
  const { session } = command
  const why = session && ofSession(session)
  if (why) return why
  if (command.type === 'turn-start') return ofTurn(command)
  return command.type === 'config-set' ? ofSetting(command) : undefined
}

function ofSession({ id, conversation, channel, name }: SessionRef): Fault | undefined {
  return (
    tooLong('name of the session', id) ??
    tooLong('name of the conversation', conversation) ??
    tooLong('name of the channel', channel) ??
    tooLong('title of the session', name)
  )
}

function ofTurn({ request, agent, once, options, user, cwd }: CommandOf<'turn-start'>): Fault | undefined {
  return (
    tooLong('id of the request', request) ??
    tooLong('name of the agent', agent) ??
    tooLong('idempotency key', once?.key) ??
    tooLong('name of the model', options.model) ??
    tooLong('effort', options.effort) ??
    tooLong('name of the user', user, LONGEST_COMPOSED) ??
    tooLong('path of the folder', cwd, LONGEST_COMPOSED)
  )
}

function ofSetting({ model, mode, effort, option }: CommandOf<'config-set'>): Fault | undefined {
  const value = typeof option?.value === 'string' ? option.value : undefined
  return (
    tooLong('name of the model', model) ??
    tooLong('name of the mode', mode) ??
    tooLong('effort', effort) ??
    tooLong('name of the option', option?.id) ??
    tooLong('value of the option', value, LONGEST_COMPOSED)
  )
}

function tooLong(what: string, text: string | undefined, most = LONGEST): Fault | undefined {
  if (text === undefined || text.length <= most) return undefined
  return fault('invalid-request', `The ${what} has ${text.length} characters; send at most ${most}.`)
}
