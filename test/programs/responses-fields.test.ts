import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { echoed, NO_ECHO } from '../../codecs/openai/responses/front/echo.ts'
import { members } from '../../src/model/index.ts'
import { describeWith, installed } from './kit.ts'

const TYPES = installed('openai/resources/responses/responses.d.ts')

/** Members that a response has, although it does not repeat what its request says: what was made of that is unknown here. */
const RESULTS = ['access_programs', 'image', 'moderation', 'prompt_cache_options', 'service_tier']
/** Members that a response has of the gateway's own. */
const OWN = ['conversation', 'model']
/** A member that servers repeat, and the types do not have. */
const UNTYPED = ['store']

describeWith('responses and the types of openai 7.59.0', [TYPES], () => {
  test('a response repeats every member that the types of the request and of the response have', () => {
    const types = readFileSync(TYPES, 'utf8')
    const membersOf = (name: string): string[] => {
      const body = new RegExp(`^export interface ${name} \\{$(.*?)^\\}$`, 'ms').exec(types)![1]!
      return [...body.matchAll(/^ {4}([a-z_]+)\??:/gm)].map(([, member]) => member!)
    }
    const asked = new Set(membersOf('ResponseCreateParamsBase'))
    const both = membersOf('Response').filter((member) => asked.has(member))
    const { others, ...apart } = echoed(NO_ECHO)
    const repeated = [...Object.keys(apart), ...members(`{${others}}`).map(([key]) => key)]
    expect([...both, ...UNTYPED].sort()).toEqual([...repeated, ...RESULTS, ...OWN].sort())
  })
})
