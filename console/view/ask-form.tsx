import { useState } from 'preact/hooks'
import type { Ask } from '../../src/model/index.ts'
import { jsonOf, jsonText } from '../logic/json.ts'
import { messageOf, post } from '../state/api.ts'
import { ApprovalForm } from './approval-form.tsx'
import { InputForm } from './input-form.tsx'
import { Problem } from './loaded.tsx'
import { type Answer, OneField } from './one-field.tsx'
import { Text } from './text.tsx'
import { TimeLeft } from './time-left.tsx'

/** A question of an agent, with what can be answered. */
export function AskForm({ turn, ask }: { turn: string; ask: Ask }) {
  const [problem, setProblem] = useState<string | undefined>()
  const [isSent, setSent] = useState(false)
  const path = `/v1/turns/${encodeURIComponent(turn)}/approvals/${encodeURIComponent(ask.ask)}`
  const answer: Answer = (body) => {
    setProblem(undefined)
    setSent(true)
    post(path, body).catch((error) => {
      setProblem(messageOf(error))
      setSent(false)
    })
  }
  return (
    <section class="question" aria-label="A question of the agent">
      <fieldset disabled={isSent}>
        <Question ask={ask} answer={answer} />
      </fieldset>
      {problem !== undefined && <Problem text={problem} />}
      {ask.deadline !== undefined && <TimeLeft until={ask.deadline} />}
    </section>
  )
}

function Question({ ask: { question }, answer }: { ask: Ask; answer: Answer }) {
  switch (question.kind) {
    case 'approval':
      return <ApprovalForm question={question} answer={answer} />
    case 'input':
      return <InputForm question={question} answer={answer} />
    case 'tool':
      return (
        <OneField label="Result of the tool" answer={(value) => answer({ reply: toolReply(value) })}>
          The agent waits for the result of the tool <code>{question.tool}</code>, which its client runs.
        </OneField>
      )
    case 'client':
      return (
        <OneField
          label="Result, as JSON"
          answer={(value) => answer({ reply: { kind: 'client', result: jsonOf(value) } })}
        >
          The agent asks its client for <code>{question.method}</code>: <Text value={jsonText(question.params)} />
        </OneField>
      )
  }
}

function toolReply(value: string): unknown {
  return { kind: 'tool', status: 'ok', parts: [{ type: 'text', text: value }] }
}
