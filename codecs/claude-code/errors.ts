import { codeOfProviderStatus, codeOfProviderText, errorTable } from '../../src/codec-kit/index.ts'
import type { ErrorCode } from '../../src/model/index.ts'

/** The codes of this protocol's errors are those of the model: only agents speak it here. */
export const errors = errorTable()

/** The error that a result names: the HTTP status of a model call that failed, else what its text says. */
export function codeOfResult(status: unknown, reason: unknown, text: string): ErrorCode {
  if (typeof status === 'number' && status >= 400) return codeOfProviderStatus(status)
  return codeOfProviderText(text) ?? (reason === 'api_error' ? 'provider-error' : 'internal')
}
