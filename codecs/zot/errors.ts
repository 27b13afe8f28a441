import { codeOfProviderText, errorTable } from '../../src/codec-kit/index.ts'
import { type Ext, type Fault, fault } from '../../src/model/index.ts'

/**
 * The protocol has no error codes: a failure is a sentence in an `error` event or in a response. The codes here are the
 * gateway's own words, for its log.
 */
export const errors = errorTable()

/** The fault of an agent's error text, which the protocol makes for users and which is passed on as it is. */
export function faultOfText(message: string, ext?: Ext): Fault {
  return fault(codeOfProviderText(message) ?? 'internal', message, ext && { ext })
}
