import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { PolicyError } from '@hostpace/core'
import { type DocumentNode, evaluate, parse, type ValueNode } from '@humanwhocodes/momoa'
import { InputError, messageOf } from './errors.ts'
import { jsonProblem } from './json-problem.ts'

/** What `--policy` says, before it is known to be a policy. */
export interface PolicyDocument {
  /** What stands before `=`, or else the name of the file. */
  readonly name: string | undefined
  /** The file that it stands in, `--policy` where it stands on the command line. */
  readonly file: string
  /**
   * Makes something of its value.
   *
   * @throws {InputError} in place of a `PolicyError`: core says what is wrong, and the document where that stands
   */
  read<T>(make: (value: unknown) => T): T
}

/** `name={"intervalMs":2000}` or `name=file.json` */
const named = /^([^={"/\\]+)=(.+)$/s

/** JSON of any kind but a number, which may be the name of a file. */
const json = /^\s*(?:[{["]|(?:null|true|false)\s*$)/

/**
 * Reads a file or JSON, with a name and `=` before it if it is to be called something else.
 *
 * @throws {InputError} that names the line and the column of what is no JSON
 */
export async function readPolicyDocument(argument: string): Promise<PolicyDocument> {
  const [, name, source = argument] = named.exec(argument) ?? []
  const isJson = json.test(source)
  const file = isJson ? '--policy' : source
  const document = parsed(isJson ? source : await readPolicyFile(source), file)
  return {
    name: name?.trim() ?? (isJson ? undefined : basename(source)),
    file,
    read: (make) => {
      try {
        return make(evaluate(document))
      } catch (error) {
        if (!(error instanceof PolicyError)) throw error
        const { line, column } = nodeAt(document.body, error.path).loc.start
        throw new InputError({ file, line, column }, error.message, { cause: error })
      }
    },
  }
}

async function readPolicyFile(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/^\uFEFF/, '')
  } catch (error) {
    throw new InputError({ file: path }, `cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

function parsed(text: string, file: string): DocumentNode {
  try {
    return parse(text)
  } catch (error) {
    throw new InputError({ file, ...placeOf(error, text) }, jsonProblem(error as Error, text), { cause: error })
  }
}

/** Where a parser stopped. It does not always know where a text ends. */
function placeOf(error: unknown, text: string): { line: number | undefined; column: number | undefined } {
  if (!messageOf(error).includes('end of input')) return error as { line: number; column: number }
  const lines = text.split('\n')
  return { line: lines.length, column: (lines.at(-1) as string).length + 1 }
}

/** Each step of a path such as `policy.quotas[0].limit` or `hosts["https://a.example"].rate`. */
const step = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\.?(\w+)/g

/** What core calls the whole. */
const roots = ['policy', 'options']

/** The value that a path leads to, or the last one on the way that is there. */
function nodeAt(body: ValueNode, path: string): ValueNode {
  let node = body
  for (const [whole, quoted, index, plain] of path.matchAll(step)) {
    if (roots.includes(whole)) continue
    const name = quoted === undefined ? plain : (JSON.parse(`"${quoted}"`) as string)
    const next = index === undefined ? memberOf(node, name) : elementOf(node, Number(index))
    if (next === undefined) break
    node = next
  }
  return node
}

function memberOf(node: ValueNode, name: string | undefined): ValueNode | undefined {
  if (node.type !== 'Object') return undefined
  // Of several with one name the last one counts.
  return node.members.findLast((member) => member.name.type === 'String' && member.name.value === name)?.value
}

function elementOf(node: ValueNode, index: number): ValueNode | undefined {
  return node.type === 'Array' ? node.elements[index]?.value : undefined
}
