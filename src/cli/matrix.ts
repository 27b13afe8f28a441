import { loadCodecs } from '../../codecs/index.ts'
import { matrixJson, matrixText, type Named, namedDialects, pairsOf } from '../matrix/index.ts'
import { takeNothing, takeOptions, UsageError } from './arguments.ts'

/**
 * `turnpike matrix`: the items that each pair of a client's and an agent's protocol keeps, weakens and loses, by the
 * codecs' capabilities. `--from` and `--to` limit it to a client's and an agent's protocol. Exit codes: 0, 2 (command
 * line).
 */
export async function matrixCommand(args: string[]): Promise<number> {
  const { options, rest } = takeOptions(args, ['format', 'from', 'to'])
  takeNothing(rest)
  const { format = 'text', from, to } = options
  const dialects = namedDialects(Object.values(await loadCodecs()))
  const clients = chosen(dialects, from, 'front')
  const agents = chosen(dialects, to, 'back')
  const pairs = pairsOf(dialects).filter(({ client, agent }) => clients.has(client) && agents.has(agent))
  if (format === 'json') process.stdout.write(matrixJson(pairs))
  else if (format === 'text' || format === 'markdown') process.stdout.write(matrixText(pairs, format))
  else throw new UsageError(`unknown format "${format}"; the formats are text, json and markdown`)
  return 0
}

/** The names of the dialects that a name means: one, or all of a protocol. */
function chosen(dialects: readonly Named[], wanted: string | undefined, half: 'front' | 'back'): ReadonlySet<string> {
  const names = dialects.filter(({ dialect }) => dialect[half]).map(({ name }) => name)
  const found = wanted === undefined ? names : names.filter((name) => name === wanted || name.startsWith(`${wanted}@`))
  if (found.length > 0) return new Set(found)
  const side = half === 'front' ? 'clients' : 'agents'
  throw new UsageError(`no ${side} use "${wanted}"; known: ${names.join(', ')}`)
}
