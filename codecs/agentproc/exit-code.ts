import { codeOfProviderText } from '../../src/codec-kit/index.ts'
import type { Ext, Fault } from '../../src/model/index.ts'
import { errors } from './errors.ts'
import { EXT_01 } from './ext.ts'

/** An agent's own non-zero exit code, for an AgentProc client; undefined when there is none. */
export function exitCodeExt(exitCode: number | undefined): Ext | undefined {
  return exitCode ? { protocol: EXT_01, json: `{"exit_code":${exitCode}}` } : undefined
}

/** True when the error has members that no AgentProc client gets: all but an agent's own exit code. */
export function hasForeignMembers(why: Fault | undefined): boolean {
  return why?.ext !== undefined && why.ext.protocol !== EXT_01
}

/** True when a failure of a provider would be taken for another error: clients know it by its words alone. */
export function losesCode(why: Fault | undefined): boolean {
  return why?.code.startsWith('provider-') === true && codeOfProviderText(why.message) !== why.code
}

/** The exit code of a stand-in: an AgentProc agent's own one when there is one, else that of the error. */
export function exitCodeOf(why: Fault | undefined): number {
  const own = why?.ext?.protocol === EXT_01 ? /^\{"exit_code":(\d+)\}$/.exec(why.ext.json) : undefined
  return Number(own?.[1] ?? errors[why?.code ?? 'cancelled'].code)
}
