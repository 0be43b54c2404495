/** Reads the text of another field; `''` where it has none. */
type Values = (name: string) => string

interface CommonField {
  /** What it is called in the form and in the address. */
  readonly name: string
  readonly label: string
  /** Whether there is anything to ask, given the other fields. @default always */
  readonly isAsked?: (values: Values) => boolean
}

export interface NumberField extends CommonField {
  readonly kind: 'number'
  readonly unit: string
  readonly least: number
  readonly most: number
  /** Where the slider ends; larger numbers can be typed. */
  readonly slideTo: number
  /** The step of the slider. */
  readonly step: number
  readonly isWhole: boolean
  /** What it is at first; a field without may be left empty, which means that there is no such rule. */
  readonly first?: string
}

export interface ChoiceField extends CommonField {
  readonly kind: 'choice'
  /** What can be chosen, and what it says. The first is chosen at first. */
  readonly choices: Readonly<Record<string, string>>
}

export interface TextField extends CommonField {
  readonly kind: 'text'
  readonly longest: number
}

export type Field = NumberField | ChoiceField | TextField

const dayOfSeconds = 86_400
const seconds = { kind: 'number', unit: 's', least: 0.001, most: dayOfSeconds, step: 0.5, isWhole: false } as const
const perSecond = { kind: 'number', unit: 'per s', least: 0.001, most: 1000, step: 0.1, isWhole: false } as const
const requests = { kind: 'number', unit: '', least: 1, most: 2000, step: 1, isWhole: true } as const

const isPattern =
  (...patterns: string[]) =>
  (values: Values): boolean =>
    patterns.includes(values('pattern'))

const isGiven =
  (...names: string[]) =>
  (values: Values): boolean =>
    names.every((name) => values(name) !== '')

const arrivalFields: readonly Field[] = [
  {
    name: 'pattern',
    label: 'They come',
    kind: 'choice',
    choices: { once: 'all at once', steady: 'evenly spaced', poisson: 'at random (Poisson)', bursts: 'in bursts' },
  },
  { ...requests, name: 'count', label: 'Requests', slideTo: 200, first: '40' },
  {
    ...perSecond,
    name: 'perSecond',
    label: 'On average',
    slideTo: 20,
    first: '1',
    isAsked: isPattern('steady', 'poisson'),
  },
  {
    ...requests,
    name: 'seed',
    label: 'Seed',
    most: 2 ** 31 - 1,
    slideTo: 50,
    first: '1',
    isAsked: isPattern('poisson'),
  },
  { ...requests, name: 'burst', label: 'In each burst', slideTo: 50, first: '10', isAsked: isPattern('bursts') },
  { ...seconds, name: 'every', label: 'One burst every', slideTo: 60, first: '15', isAsked: isPattern('bursts') },
  { ...seconds, name: 'window', label: 'Counted per', slideTo: 60, first: '10' },
]

const hostFields: readonly Field[] = [
  { ...seconds, name: 'crawlDelay', label: 'Crawl-delay', slideTo: 10 },
  { ...requests, name: 'hostQuota', label: 'Requests at most', slideTo: 100 },
  {
    ...seconds,
    name: 'hostQuotaWindow',
    label: 'in any',
    slideTo: 120,
    step: 1,
    first: '60',
    isAsked: isGiven('hostQuota'),
  },
]

/** The sides of the comparison. */
export const sides = ['a', 'b'] as const
export type Side = (typeof sides)[number]

function policyFields(side: Side): readonly Field[] {
  return [
    { kind: 'text', name: `${side}.name`, label: 'Name', longest: 40 },
    { ...seconds, name: `${side}.interval`, label: 'Interval', slideTo: 10, step: 0.1 },
    { ...perSecond, name: `${side}.rate`, label: 'Rate', slideTo: 10 },
    { ...requests, name: `${side}.capacity`, label: 'Capacity', slideTo: 60, isAsked: isGiven(`${side}.rate`) },
    ...quotaFields(`${side}.quota`, 'Quota'),
    ...quotaFields(`${side}.quota2`, 'Another quota', `${side}.quota`),
  ]
}

function quotaFields(name: string, label: string, ...needed: string[]): readonly Field[] {
  const isAsked = isGiven(name, ...needed)
  return [
    { ...requests, name, label, slideTo: 100, isAsked: isGiven(...needed) },
    { ...seconds, name: `${name}Window`, label: 'in', slideTo: 120, step: 1, first: '60', isAsked },
    {
      kind: 'choice',
      name: `${name}Kind`,
      label: 'counted',
      choices: { sliding: 'in any window (sliding)', counter: 'by two counters', fixed: 'by the clock (fixed)' },
      isAsked,
    },
  ]
}

/** All that can be set, by the part of the form in which it stands. */
export const parts: Readonly<Record<'arrivals' | 'host' | Side, readonly Field[]>> = {
  arrivals: arrivalFields,
  host: hostFields,
  a: policyFields('a'),
  b: policyFields('b'),
}

/** The fields that there is anything to ask about, given what is set. */
export function askedFields(params: URLSearchParams): Field[] {
  const values: Values = (name) => params.get(name) ?? ''
  return Object.values(parts)
    .flat()
    .filter(({ isAsked }) => isAsked?.(values) ?? true)
}
