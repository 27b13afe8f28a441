import type { Group } from './bench.ts'
import { ONCE } from './once.ts'
import { STARTED } from './started.ts'
import { STREAMED } from './streamed.ts'
import { TRANSLATED } from './translated.ts'

/** Every group of lines, in the order of the table. */
export const GROUPS: readonly Group[] = [...STREAMED, ...STARTED, ...TRANSLATED, ...ONCE]
