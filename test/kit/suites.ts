import { checkedNames, loadChecks } from '../../codecs/index.ts'
import type { Suite } from '../../src/contract/index.ts'

/** Every conformance suite of every protocol, by `protocol@suite`. */
export async function allSuites(): Promise<[string, Suite][]> {
  const found = await Promise.all(
    checkedNames.map(async (name) =>
      Object.entries((await loadChecks(name))!.suites).map(([suite, one]): [string, Suite] => [
        `${name}@${suite}`,
        one,
      ]),
    ),
  )
  return found.flat()
}
