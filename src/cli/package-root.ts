import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of this package: the nearest one above that has its manifest (the code runs bundled and unbundled). */
export const packageRoot: string = find(import.meta.dirname)

function find(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  return parent === folder ? folder : find(parent)
}
