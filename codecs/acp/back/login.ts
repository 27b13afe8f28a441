import { type Fault, fault } from '../../../src/model/index.ts'
import type { AuthMethod } from '../schema.ts'

/** The fault of an agent that wants a login before it works, with the ways to log in that it offers (Authentication). */
export function loginFault(agent: string, reason: string, methods: readonly AuthMethod[]): Fault {
  const ways = methods.map(describeMethod).join(', ')
  const how =
    ways === '' ? 'log in with its own program' : `log in with its own program, or set \`auth\` to one of: ${ways}`
  return fault('provider-auth', `The agent "${agent}" wants a login (${reason}): ${how}.`)
}

function describeMethod({ id, name }: AuthMethod): string {
  return name == null || name === id ? `"${id}"` : `"${id}" (${name})`
}
