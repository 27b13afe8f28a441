import { errorTable } from '../../src/codec-kit/index.ts'
import type { ErrorCode } from '../../src/model/index.ts'

/** The codes that are not named after those of the model. */
const OWN: Partial<Record<ErrorCode, string>> = {
  'unsupported-version': 'unsupported_protocol',
  'lossy-refused': 'QWEN_TRANSLATION_LOSSY',
}

/**
 * The code of every error as the `code` of the RFC's error object, and the HTTP status of the endpoints of both
 * dialects. The shipped dialect has no codes on its wire: a failure there is a `result`.
 */
export const errors = errorTable((code) => OWN[code] ?? `QWEN_${code.toUpperCase().replaceAll('-', '_')}`)
