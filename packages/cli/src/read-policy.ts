import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { HostLimiter, type Policy, PolicyError } from '@hostpace/core'
import { type DocumentNode, evaluate, parse, type ValueNode } from '@humanwhocodes/momoa'
import { CliError, InputError, messageOf } from './errors.ts'

/** A policy and what to call it. */
export interface NamedPolicy {
  readonly name: string
  readonly policy: Policy
}

/** `name={"intervalMs":2000}` or `name=file.json` */
const named = /^([^={"/\\]+)=(.+)$/s

/**
 * Reads what `--policy` says: a file or JSON, with a name and `=` before it if it is to be called something else.
 *
 * @throws {InputError} that names the line and the column of what is no JSON or no policy
 * @throws {CliError} if the policy declares nothing by which requests could be paced
 */
export async function readPolicy(argument: string): Promise<NamedPolicy> {
  const [, name, source = argument] = named.exec(argument) ?? []
  const isJson = source.trimStart().startsWith('{')
  const file = isJson ? '--policy' : source
  const text = isJson ? source : await readPolicyFile(source)
  const policy = checked(parsed(text, file), file)
  const { intervalMs, rate, quotas = [] } = policy
  if (intervalMs === undefined && rate === undefined && quotas.length === 0) {
    throw new CliError(`${file} declares no intervalMs, no rate and no quotas, so there is nothing to go by`)
  }
  return { name: name?.trim() ?? (isJson ? source : basename(source)), policy }
}

async function readPolicyFile(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/^\uFEFF/, '')
  } catch (error) {
    throw new CliError(`cannot read the policy ${path}: ${messageOf(error)}`, { cause: error })
  }
}

function parsed(text: string, file: string): DocumentNode {
  try {
    return parse(text)
  } catch (error) {
    throw new InputError({ file, ...placeOf(error, text) }, messageOf(error).replace(/ \(\d+:\d+\)$/, ''), {
      cause: error,
    })
  }
}

/** Where a parser stopped. It does not always know where a text ends. */
function placeOf(error: unknown, text: string): { line: number | undefined; column: number | undefined } {
  if (!messageOf(error).includes('end of input')) return error as { line: number; column: number }
  const lines = text.split('\n')
  return { line: lines.length, column: (lines.at(-1) as string).length + 1 }
}

/** Core says what is wrong with a policy, and the document where that stands. */
function checked(document: DocumentNode, file: string): Policy {
  try {
    return new HostLimiter(evaluate(document) as Policy).policy
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    const { line, column } = nodeAt(document.body, error.path).loc.start
    throw new InputError({ file, line, column }, error.message, { cause: error })
  }
}

/** The value that a path such as `policy.quotas[0].limit` leads to, or the last one on the way that is there. */
function nodeAt(body: ValueNode, path: string): ValueNode {
  let node = body
  for (const [, step, index] of path.matchAll(/\.(\w+)|\[(\d+)\]/g)) {
    const next = index === undefined ? memberOf(node, step) : elementOf(node, Number(index))
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
