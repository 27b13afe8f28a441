import type { Route } from '../contract/index.ts'
import { suggest } from './errors.ts'
import { definedLimits } from './limits.ts'
import { findProtocol } from './protocol.ts'
import type { FileShape } from './schema.ts'
import type { Source } from './source.ts'
import type { CodecInfos } from './types.ts'

/** The routes of a valid file; unknown agents and fronts are reported. */
export function resolveRoutes(
  source: Source,
  file: Pick<FileShape, 'routes' | 'default'>,
  agents: readonly string[],
  codecs: CodecInfos,
): Route[] {
  const check = (agent: string, ...path: (string | number)[]): void => {
    if (!agents.includes(agent)) source.report(path, `unknown agent "${source.written(path)}"`, suggest(agent, agents))
  }
  if (file.default !== undefined) check(file.default, 'default')
  return file.routes.map(({ limits, ...route }, index) => {
    check(route.agent, 'routes', index, 'agent')
    for (const [position, agent] of route.fallback.entries()) check(agent, 'routes', index, 'fallback', position)
    const { front } = route.when
    if (front !== undefined && !front.includes('*'))
      findProtocol(front, codecs, source, ['routes', index, 'when', 'front'])
    return limits === undefined ? route : { ...route, limits: definedLimits(limits) }
  })
}
