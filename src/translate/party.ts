import {
  type AnyCodec,
  asBack,
  asFront,
  type BackContext,
  type BackDialect,
  type Framing,
  type FrontDialect,
  hasFront,
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

/** True when clients speak the party's dialect too. */
export function hasClients({ codec, dialect }: Party): boolean {
  return hasFront(codec.dialects[dialect])
}

/** The framing of the party's wire. */
export function framingOf({ codec, dialect }: Party): Framing {
  return codec.dialects[dialect]!.framing
}

/** The context of a back link without a process. */
export function backContext({ options }: Party, argv: readonly string[] | undefined): BackContext<unknown> {
  const process = { command: 'agent', env: {}, cwd: '/', ...(argv && { args: argv }) }
  return { options, agent: 'agent', env: {}, folder: '/', process }
}
