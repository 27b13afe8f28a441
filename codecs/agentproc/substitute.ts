/** The values of the placeholders of a profile. */
export interface Placeholders {
  MESSAGE: string
  SESSION_ID: string
  SESSION_NAME: string
  PROFILE_DIR: string
}

/** `{{NAME}}` replaced by its value, once: a value that holds placeholders itself is not read again. */
export function substitute(template: string, values: Placeholders): string {
  return template.replace(
    /\{\{(MESSAGE|SESSION_ID|SESSION_NAME|PROFILE_DIR)\}\}/g,
    (_, name: keyof Placeholders) => values[name],
  )
}

/** `${VAR}` replaced by the value from `env`; unknown ones, and those outside an allow list, are empty. */
export function expand(
  template: string,
  env: Readonly<Record<string, string>>,
  allowed: readonly string[] | undefined,
): string {
  return template.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const readable = Object.hasOwn(env, name) && (allowed === undefined || allowed.includes(name))
    return readable ? env[name]! : ''
  })
}

/** The profile's folder in a `cwd`: as an absolute path it makes whatever stands before it void. */
export function workingFolder(cwd: string, folder: string): string {
  return cwd.replace(/^.*?\{\{PROFILE_DIR\}\}/, () => folder)
}
