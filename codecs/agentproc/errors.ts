import { errorTable } from '../../src/codec-kit/index.ts'
import type { ErrorCode, Ext, Fault } from '../../src/model/index.ts'
import { EXT_01 } from './ext.ts'

/** The exit codes that are not 1. */
const EXIT: Readonly<Partial<Record<ErrorCode, string>>> = { timeout: '124', cancelled: '143' }

/** The exit code of every error on stdio, as text. */
export const errors = errorTable((code) => EXIT[code] ?? '1')

/** An agent's own non-zero exit code, for an AgentProc client; undefined when there is none. */
export function exitCodeExt(exitCode: number | undefined): Ext | undefined {
  return exitCode ? { protocol: EXT_01, json: `{"exit_code":${exitCode}}` } : undefined
}

/** The exit code of a stand-in: an AgentProc agent's own one when there is one, else that of the error. */
export function exitCodeOf(why: Fault | undefined): number {
  const own = why?.ext?.protocol === EXT_01 ? /^\{"exit_code":(\d+)\}$/.exec(why.ext.json) : undefined
  return Number(own?.[1] ?? errors[why?.code ?? 'cancelled'].code)
}
