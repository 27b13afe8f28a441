import { expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { hasBack, hasFront } from '../../src/contract/index.ts'
import { asJson, parse } from '../../src/model/index.ts'
import { type Party, plainWire, translate } from '../../src/translate/index.ts'
import { optionsOf } from '../kit/mirror.ts'

/** A model may write arguments of a call that are no JSON. Whatever a client gets then is what its protocol allows. */

const codecs = await loadCodecs()
const parties = Object.values(codecs).flatMap((codec) =>
  Object.entries(codec.dialects)
    .filter(([, dialect]) => hasFront(dialect) && hasBack(dialect))
    .map(([dialect]): Party & { name: string } => ({
      name: `${codec.name}@${dialect}`,
      codec,
      dialect,
      options: optionsOf(codec),
    })),
)
const model: Party = { codec: codecs['openai']!, dialect: 'chat', options: optionsOf(codecs['openai']!) }

/** A model's answer with one call. */
function answer(args: string): string {
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'patch', arguments: args } }
  const chunk = (delta: object, finish_reason: string | null): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const said = chunk({ role: 'assistant', content: 'See:', tool_calls: [call] }, null)
  return `${said}${chunk({}, 'tool_calls')}data: [DONE]\n\n`
}

/** The frames of a wire that hold JSON: lines, and the data of server-sent events. */
function frames(out: string): string[] {
  return out
    .split('\n')
    .map((line) => line.replace(/^data: /, '').trim())
    .filter((line) => line.startsWith('{') || line.startsWith('['))
    .filter((line) => line !== '[DONE]')
}

test.each(parties.flatMap((to) => ['', 'not json', '{"a"', '*** Begin\n+1'].map((args) => ({ to, args }))))(
  '$to.name with the arguments $args',
  ({ to, args }) => {
    const { out, faults } = translate([plainWire('agent', answer(args))], { from: model, to, of: 'agent' })
    expect(faults).toEqual([])
    expect(frames(out).filter((frame) => parse(frame) === undefined)).toEqual([])
  },
)

test.each([
  ['{"a":1}', '{"a":1}'],
  ['1.0', '1.0'],
  ['', '""'],
  ['{"a"', '"{\\"a\\""'],
])('asJson of %j', (text, json) => {
  expect(asJson(text)).toBe(json)
})
