import { type AnyCodec, type Frame, type FrontContext, type FrontDialect, hasFront } from '../../contract/index.ts'

/** A dialect that clients can speak, under its name. */
export type NamedFront = readonly [name: string, dialect: FrontDialect]

/** Arguments and environment of a program on stdio. */
export interface Started {
  argv: readonly string[]
  env: Readonly<Record<string, string | undefined>>
}

/** The dialects of a codec that clients can speak, in its order. */
export function frontsOf(codec: AnyCodec): NamedFront[] {
  return Object.entries(codec.dialects).filter((named): named is [string, FrontDialect] => hasFront(named[1]))
}

/** The first of them that takes a client which was started so; `frame` is its first one, undefined while there is none. */
export function takenBy(
  fronts: readonly NamedFront[],
  frame: Frame | undefined,
  started: Started,
): NamedFront | undefined {
  return fronts.find(([, dialect]) => dialect.front.accepts?.(frame, stdioContext(dialect, started)) ?? true)
}

/** The context of a dialect's front on stdio; of the environment it has the variables that the front asks for. */
export function stdioContext(dialect: FrontDialect, { argv, env }: Started): FrontContext {
  const known: Record<string, string> = {}
  for (const name of dialect.front.env) {
    const value = env[name]
    if (value !== undefined) known[name] = value
  }
  return { transport: 'stdio', method: '', path: argv[0] ?? '', query: '', headers: {}, argv, env: known }
}
