/** The classes that are constructed while something runs, as V8 counts calls. */
import { type Debugger, type Profiler, Session } from 'node:inspector/promises'

const CLASS = /\bclass (\w+)/g
/** The fields of a class without a constructor of its own are set by a function of this name. */
const FIELDS = '<instance_members_initializer>'

/** The classes of files whose path contains `folder`, as `file Class`, of which `work` makes an instance. */
export async function constructedWhile<T>(
  folder: string,
  work: () => Promise<T>,
): Promise<{ made: string[]; result: T }> {
  const session = new Session()
  session.connect()
  const scripts = new Map<string, Debugger.ScriptParsedEventDataType>()
  session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params))
  try {
    await session.post('Debugger.enable')
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await session.post('Profiler.takePreciseCoverage')
    const result = await work()
    const { result: counted } = await session.post('Profiler.takePreciseCoverage')
    const made = new Set<string>()
    for (const { scriptId, url, functions } of counted.filter((script) => script.url.includes(folder))) {
      const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId })
      for (const name of constructorsCalled(scriptSource, functions)) {
        made.add(`${url.slice(url.indexOf(folder) + folder.length)} ${name}`)
      }
    }
    return { made: [...made].sort(), result }
  } finally {
    session.disconnect()
  }
}

/** The names of the classes in a source whose constructor, or the setting of whose fields, was called. */
function constructorsCalled(source: string, functions: readonly Profiler.FunctionCoverage[]): string[] {
  const classes = [...source.matchAll(CLASS)].map(({ 1: name, index }) => ({ name: name!, index }))
  return functions.flatMap(({ functionName, ranges }) => {
    const [{ count, startOffset }] = ranges as [Profiler.CoverageRange]
    if (count === 0) return []
    if (functionName === FIELDS) return classes.findLast(({ index }) => index <= startOffset)?.name ?? []
    return classes.some(({ name }) => name === functionName) ? functionName : []
  })
}
