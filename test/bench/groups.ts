import type { Group } from './bench.ts'
import { CLUSTER } from './cluster.ts'
import { CONSOLE } from './console.ts'
import { GROWTH } from './growth.ts'
import { LIVE } from './live.ts'
import { MEMORY } from './memory.ts'
import { MODELS } from './models.ts'
import { PAINT } from './paint.ts'
import { STARTED } from './started.ts'
import { STREAMED } from './streamed.ts'
import { TRANSLATED } from './translated.ts'
import { WHOLE } from './whole.ts'

/** Every group of lines, in the order of the table. */
export const GROUPS: readonly Group[] = [
  ...STREAMED,
  ...WHOLE,
  ...CONSOLE,
  ...PAINT,
  ...MODELS,
  ...LIVE,
  ...STARTED,
  ...TRANSLATED,
  ...CLUSTER,
  ...MEMORY,
  ...GROWTH,
]
