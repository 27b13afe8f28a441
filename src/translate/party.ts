import {
  type AnyCodec,
  asBack,
  asFront,
  type BackContext,
  type BackDialect,
  type FrontDialect,
} from '../contract/index.ts'

/** One dialect of a protocol, with the validated options of its agents. */
export interface Party {
  codec: AnyCodec
  /** Name of the dialect. */
  dialect: string
  options: unknown
}

/** The dialect that a party speaks as a client. */
export function frontOf({ codec, dialect }: Party): FrontDialect {
  return asFront(codec.dialects[dialect])
}

/** The dialect that a party speaks as an agent. */
export function backOf({ codec, dialect }: Party): BackDialect {
  return asBack(codec.dialects[dialect])
}

/** The context of a back link without a process. */
export function backContext({ options }: Party, argv: readonly string[] | undefined): BackContext<unknown> {
  const process = { command: 'agent', env: {}, cwd: '/', ...(argv && { args: argv }) }
  return { options, agent: 'agent', env: {}, folder: '/', process }
}
