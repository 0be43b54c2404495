import type { Policy, Quota } from '@hostpace/core'
import type { NamedPolicy } from '../../packages/cli/src/read-policy.ts'
import type { Arrivals, Pattern } from './arrivals.ts'
import { askedFields, type Field, type Side } from './fields.ts'

/** All that a picture is drawn from. */
export interface Settings {
  readonly arrivals: Arrivals
  /** What the host asks for; nothing, if it has no fields. */
  readonly host: Policy
  /** The length of the window in which requests are counted. */
  readonly windowMs: number
  readonly policies: Readonly<Record<Side, NamedPolicy>>
}

/** What is set makes no sense; the message names the field. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** The forty-links problem: what two policies of one average make of the links of one page. */
export const firstView: string = new URLSearchParams({
  pattern: 'once',
  count: '40',
  crawlDelay: '2',
  window: '10',
  'a.name': 'token bucket',
  'a.rate': '0.5',
  'a.capacity': '40',
  'b.name': 'leaky bucket',
  'b.interval': '2',
}).toString()

/**
 * Reads what stands in the address after `#`: each field of the form by its name.
 *
 * @throws {SettingsError} if a field is unknown, missing, given twice or senseless
 */
export function readSettings(params: URLSearchParams): Settings {
  const asked = askedFields(params)
  checkNames(params, asked)
  for (const field of asked) checkValue(field, params.get(field.name))
  return {
    arrivals: {
      pattern: params.get('pattern') as Pattern,
      count: number(params, 'count'),
      perSecond: number(params, 'perSecond'),
      seed: number(params, 'seed'),
      burst: number(params, 'burst'),
      everyMs: ms(params, 'every'),
    },
    host: {
      ...(params.has('crawlDelay') && { intervalMs: ms(params, 'crawlDelay') }),
      ...(params.has('hostQuota') && {
        quotas: [{ limit: number(params, 'hostQuota'), windowMs: ms(params, 'hostQuotaWindow') }],
      }),
    },
    windowMs: ms(params, 'window'),
    policies: { a: policyOf(params, 'a'), b: policyOf(params, 'b') },
  }
}

function policyOf(params: URLSearchParams, side: Side): NamedPolicy {
  const quotas = [`${side}.quota`, `${side}.quota2`].filter((name) => params.has(name))
  const rate = number(params, `${side}.rate`)
  const capacity = number(params, `${side}.capacity`)
  const policy: Policy = {
    ...(params.has(`${side}.interval`) && { intervalMs: ms(params, `${side}.interval`) }),
    ...(params.has(`${side}.rate`) && { rate }),
    ...(params.has(`${side}.capacity`) && { capacity }),
    // Core warns of such a burst unless it is told why.
    ...(capacity > Math.max(1, rate) && { justification: 'to see what it does' }),
    ...(quotas.length > 0 && { quotas: quotas.map((name) => quotaOf(params, name)) }),
  }
  return { name: params.get(`${side}.name`) ?? '', policy }
}

function quotaOf(params: URLSearchParams, name: string): Quota {
  const window = params.get(`${name}Kind`) as NonNullable<Quota['window']>
  const quota = { limit: number(params, name), windowMs: ms(params, `${name}Window`) }
  return window === 'sliding' ? quota : { ...quota, window }
}

function number(params: URLSearchParams, name: string): number {
  return Number(params.get(name))
}

/** Seconds as people write them, without the traces that fractions of two leave. */
function ms(params: URLSearchParams, name: string): number {
  return Math.round(number(params, name) * 1_000_000) / 1000
}

function checkNames(params: URLSearchParams, asked: readonly Field[]): void {
  const names = [...params.keys()]
  for (const [index, name] of names.entries()) {
    if (!asked.some((field) => field.name === name)) throw new SettingsError(`there is no ${name} to set here`)
    if (names.indexOf(name) !== index) throw new SettingsError(`${name} is set twice`)
  }
}

function checkValue(field: Field, text: string | null): void {
  const { name, label, kind } = field
  if (text === null) {
    if (kind === 'number' && field.first === undefined) return
    throw new SettingsError(`${label} (${name}) must be given`)
  }
  if (!isSensible(field, text)) throw new SettingsError(`${label} (${name}) must be ${expected(field)}, got '${text}'`)
}

function isSensible(field: Field, text: string): boolean {
  if (field.kind === 'choice') return Object.hasOwn(field.choices, text)
  if (field.kind === 'text') return text.trim() !== '' && text.length <= field.longest
  const value = text.trim() === '' ? Number.NaN : Number(text)
  return value >= field.least && value <= field.most && (!field.isWhole || Number.isInteger(value))
}

function expected(field: Field): string {
  if (field.kind === 'choice') return `one of ${Object.keys(field.choices).join(', ')}`
  if (field.kind === 'text') return `a text of up to ${field.longest} characters`
  return `a ${field.isWhole ? 'whole ' : ''}number from ${field.least} to ${field.most}`
}
