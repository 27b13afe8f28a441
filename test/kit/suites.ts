import type { Suite } from '../../src/conformance/kit/index.ts'
import { loadSuites, testedProtocols } from '../../src/conformance/suites.ts'

/** Every conformance suite of every protocol, by `protocol@suite`. */
export async function allSuites(): Promise<[string, Suite][]> {
  const found = await Promise.all(
    testedProtocols.map(async (name) =>
      Object.entries((await loadSuites(name))!.suites).map(([suite, one]): [string, Suite] => [
        `${name}@${suite}`,
        one,
      ]),
    ),
  )
  return found.flat()
}
