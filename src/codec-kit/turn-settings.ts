import type { Ext, TurnSettings, TurnStart } from '../model/index.ts'

/** The request of a turn with other options and tools: all of `settings`, and none of those before. */
export function withSettings<T extends TurnStart & { ext?: Ext }>(start: T, settings: TurnSettings): T {
  const { agent: _agent, user: _user, clientTools: _tools, ext: _ext, ...rest } = start
  return { ...rest, ...settings } as T
}
