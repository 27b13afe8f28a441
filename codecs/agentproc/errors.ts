import { errorTable } from '../../src/codec-kit/index.ts'
import type { ErrorCode } from '../../src/model/index.ts'

/** The exit codes that are not 1. */
const EXIT: Readonly<Partial<Record<ErrorCode, string>>> = { timeout: '124', cancelled: '143' }

/** The exit code of every error on stdio, as text. */
export const errors = errorTable((code) => EXIT[code] ?? '1')
