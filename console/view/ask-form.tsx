import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Ask } from '../../src/model/index.ts'
import { type Field, fieldsOf, valuesOf } from '../logic/schema-form.ts'
import { messageOf, post } from '../state/api.ts'
import { Problem } from './loaded.tsx'
import { Text } from './text.tsx'

/** Sends the answer to a question; `body` is that of `POST /v1/turns/ID/approvals/ASK`. */
type Answer = (body: unknown) => void

/** A question of an agent, with what can be answered. */
export function AskForm({ turn, ask }: { turn: string; ask: Ask }) {
  const [problem, setProblem] = useState<string | undefined>()
  const path = `/v1/turns/${encodeURIComponent(turn)}/approvals/${encodeURIComponent(ask.ask)}`
  const answer: Answer = (body) => {
    post(path, body).catch((error) => setProblem(messageOf(error)))
  }
  return (
    <section class="ask" aria-label="A question of the agent">
      <Question ask={ask} answer={answer} />
      {problem !== undefined && <Problem text={problem} />}
    </section>
  )
}

function Question({ ask: { question }, answer }: { ask: Ask; answer: Answer }) {
  switch (question.kind) {
    case 'approval':
      return (
        <>
          <p>
            May the agent use <b>{question.name}</b>? {question.description && <Text value={question.description} />}
          </p>
          <pre>
            <Text value={text(question.args)} />
          </pre>
          <p class="options">
            {question.options.map(({ id, label, kind, scope }) => (
              <button
                type="button"
                key={id}
                class={kind}
                title={`${kind}, ${scope}`}
                onClick={() => answer({ option: id })}
              >
                <Text value={label ?? id} limit={80} />
              </button>
            ))}
          </p>
        </>
      )
    case 'input':
      return <InputForm message={question.message} schema={question.schema} answer={answer} />
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
          answer={(value) => answer({ reply: { kind: 'client', result: json(value) } })}
        >
          The agent asks its client for <code>{question.method}</code>: <Text value={text(question.params)} />
        </OneField>
      )
  }
}

function toolReply(value: string): unknown {
  return { kind: 'tool', status: 'ok', parts: [{ type: 'text', text: value }] }
}

interface InputProps {
  message: string
  schema: string | undefined
  answer: Answer
}

function InputForm({ message, schema, answer }: InputProps) {
  const [problem, setProblem] = useState<string | undefined>()
  const fields = fieldsOf(schema)
  if (!fields) {
    return (
      <OneField label="Values, as JSON" answer={(value) => answer({ reply: { kind: 'input', values: json(value) } })}>
        <Text value={message} />
      </OneField>
    )
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const values = valuesOf(fields, Object.fromEntries([...form].map(([name, value]) => [name, String(value)])))
    if (typeof values === 'string') setProblem(values)
    else answer({ reply: { kind: 'input', values } })
  }
  return (
    <form onSubmit={submit}>
      <p>
        <Text value={message} />
      </p>
      {fields.map((field) => (
        <label key={field.name}>
          <span>
            <Text value={field.label} limit={80} />
            {field.required && ' *'}
          </span>
          <Entry field={field} />
          {field.description !== undefined && (
            <small>
              <Text value={field.description} limit={300} />
            </small>
          )}
        </label>
      ))}
      {problem !== undefined && <Problem text={problem} />}
      <button type="submit" class="primary">
        Answer
      </button>
    </form>
  )
}

function Entry({ field: { name, kind, required, choices, initial } }: { field: Field }) {
  if (kind === 'flag') return <input type="checkbox" name={name} value="true" defaultChecked={initial === 'true'} />
  if (kind === 'json') return <textarea name={name} rows={2} required={required} defaultValue={initial} />
  if (kind !== 'choice')
    return (
      <input
        name={name}
        required={required}
        defaultValue={initial}
        inputMode={kind === 'number' ? 'decimal' : 'text'}
      />
    )
  return (
    <select name={name} required={required}>
      {!required && <option value="" />}
      {choices.map((choice) => (
        <option key={choice} value={choice} selected={choice === initial}>
          {choice}
        </option>
      ))}
    </select>
  )
}

function OneField({
  label,
  answer,
  children,
}: {
  label: string
  answer(value: string): void
  children: ComponentChildren
}) {
  const [value, setValue] = useState('')
  const submit = (event: Event): void => {
    event.preventDefault()
    answer(value)
  }
  return (
    <form onSubmit={submit}>
      <p>{children}</p>
      <label>
        <span>{label}</span>
        <textarea rows={3} value={value} onInput={(event) => setValue(event.currentTarget.value)} />
      </label>
      <button type="submit" class="primary">
        Answer
      </button>
    </form>
  )
}

/** Foreign JSON comes as a value. */
function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}

function json(value: string): unknown {
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
