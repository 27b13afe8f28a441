/** A program that uses the native API by a generated client: a turn, an approval, and the rest of a parked turn. */
import createClient from 'openapi-fetch'
import type { paths } from './api.d.ts'

declare const process: { argv: string[] }

const client = createClient<paths>({ baseUrl: process.argv[2]! })

/** Begins a turn and waits for its answer. */
async function ask(agent: string, session: string) {
  const { data, error } = await client.POST('/v1/turns', { body: { input: 'hello', agent, session: { id: session } } })
  if (error) throw new Error(JSON.stringify(error))
  if (!('outcome' in data)) throw new Error('no whole answer')
  return data
}

const turn = await ask('helper', 'plain')
const { data: state } = await client.GET('/v1/turns/{id}', { params: { path: { id: turn.turn } } })

// A question of the agent parks the turn; the answer brings the rest.
const parked = await ask('careful', 'parked')
const question = parked.asks![0]!
const { data: rest } = await client.POST('/v1/turns', {
  body: {
    type: 'ask-reply',
    target: { continuation: parked.continuation! },
    ask: question.ask,
    reply: { kind: 'approval', option: 'allow' },
  },
})

// Another question is answered while its turn runs in the background.
const { data: begun } = await client.POST('/v1/turns', {
  body: { input: 'hello', agent: 'careful', session: { id: 'asked' } },
  params: { header: { Prefer: 'respond-async', Accept: 'text/event-stream' } },
})
const id = (begun as { id: string }).id
let answered = false
for (let at = 0; at < 500 && !answered; at++) {
  const { data } = await client.GET('/v1/turns/{id}', { params: { path: { id } } })
  const [open] = data?.asks ?? []
  if (!open) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    continue
  }
  const path = { turn: id, ask: open.ask }
  const { error } = await client.POST('/v1/turns/{turn}/approvals/{ask}', {
    params: { path },
    body: { option: 'deny' },
  })
  answered = error === undefined
}

console.log(
  JSON.stringify({
    turn: [turn.outcome, turn.text, state?.state, state?.text],
    parked: [parked.outcome, question.question.kind],
    rest: rest && 'outcome' in rest ? [rest.outcome, rest.text] : rest,
    answered,
  }),
)
