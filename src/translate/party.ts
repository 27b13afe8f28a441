import type { AnyCodec, BackContext, Dialect } from '../contract/index.ts'

/** One dialect of a protocol, with the validated options of its agents. */
export interface Party {
  codec: AnyCodec
  /** Name of the dialect. */
  dialect: string
  options: unknown
}

/** The dialect that a party speaks. */
export function dialectOf({ codec, dialect }: Party): Dialect {
  return codec.dialects[dialect]!
}

/** What a back link is opened with, when nothing is started. */
export function backContext({ options }: Party, argv: readonly string[] | undefined): BackContext<unknown> {
  const process = { command: 'agent', env: {}, cwd: '/', ...(argv && { args: argv }) }
  return { options, agent: 'agent', env: {}, folder: '/', process }
}
