/** Forms for the inputs that agents ask for, from their JSON Schema. */

/** One field of a form. */
export interface Field {
  name: string
  label: string
  kind: 'text' | 'number' | 'flag' | 'choice' | 'json'
  required: boolean
  /** What the value may be, of a choice. */
  choices: readonly string[]
  description?: string
  initial: string
}

type Json = Record<string, unknown>

const KINDS: Readonly<Record<string, Field['kind']>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'flag',
}

/** The fields of an object's schema. Undefined for a schema that is none, which is answered as JSON. */
export function fieldsOf(schema: unknown): Field[] | undefined {
  const value = typeof schema === 'string' ? parsed(schema) : schema
  if (!isObject(value) || !isObject(value['properties'])) return undefined
  const required = Array.isArray(value['required']) ? value['required'] : []
  return Object.entries(value['properties']).map(([name, property]) =>
    fieldOf(name, isObject(property) ? property : {}, required.includes(name)),
  )
}

function fieldOf(name: string, property: Json, required: boolean): Field {
  const choices = Array.isArray(property['enum']) ? property['enum'].map(String) : []
  const { title, description, type, default: initial } = property
  return {
    name,
    label: typeof title === 'string' ? title : name,
    kind: choices.length > 0 ? 'choice' : (KINDS[String(type)] ?? 'json'),
    required,
    choices,
    ...(typeof description === 'string' && { description }),
    initial: initial === undefined ? '' : typeof initial === 'string' ? initial : JSON.stringify(initial),
  }
}

/** The values of a filled form, or the reason why they are none. Empty fields that may be absent are. */
export function valuesOf(fields: readonly Field[], given: Readonly<Record<string, string>>): Json | string {
  const values: Json = {}
  for (const field of fields) {
    const text = given[field.name] ?? ''
    if (field.kind === 'flag') values[field.name] = text === 'true'
    else if (text === '' && !field.required) continue
    else {
      const value = readValue(field, text)
      if (value === undefined) return `${field.label} is not ${field.kind === 'number' ? 'a number' : 'JSON'}`
      values[field.name] = value
    }
  }
  return values
}

function readValue({ kind }: Field, text: string): unknown {
  if (kind === 'text' || kind === 'choice') return text
  const value = parsed(text)
  return kind === 'number' && typeof value !== 'number' ? undefined : value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
