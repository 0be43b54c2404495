import { element, escaped } from '../../packages/cli/src/charts/markup.ts'
import { askedFields, type ChoiceField, type Field, type NumberField, parts, type TextField } from './fields.ts'

const hint = 'none'

/** The controls of all fields, with what they are set to. */
export class Form {
  readonly #form: HTMLFormElement

  /** Fills each part of the form with its controls. */
  constructor(form: HTMLFormElement, onChange: () => void) {
    this.#form = form
    for (const [part, fields] of Object.entries(parts)) {
      const place = form.querySelector(`#${part}`) as HTMLElement
      place.insertAdjacentHTML('beforeend', fields.map(rowOf).join(''))
    }
    form.addEventListener('input', ({ target }) => {
      this.#follow(target as HTMLInputElement)
      this.#showAsked()
      onChange()
    })
    form.addEventListener('submit', (event) => event.preventDefault())
  }

  /** What is set, of what is asked. What is left empty is left out; what a browser takes for no number is not empty. */
  get params(): URLSearchParams {
    const entries = [...new FormData(this.#form)].map(([name, value]): [string, string] => [
      name,
      this.#input(name).validity.badInput ? '?' : String(value),
    ])
    return new URLSearchParams(entries.filter(([, value]) => value !== ''))
  }

  set params(params: URLSearchParams) {
    for (const field of Object.values(parts).flat()) {
      const input = this.#input(field.name)
      input.value = params.get(field.name) ?? firstOf(field)
      if (field.kind === 'number') this.#sliderOf(input).value = input.value || '0'
    }
    this.#showAsked()
  }

  /** A slider and the number beside it say the same. */
  #follow(moved: HTMLInputElement): void {
    const { slides } = moved.dataset
    if (slides === undefined) {
      if (moved.type === 'number') this.#sliderOf(moved).value = moved.value || '0'
      return
    }
    const number = this.#input(slides)
    number.value = Number(moved.value) === 0 ? '' : moved.value
  }

  /** What is not asked is neither shown nor sent. Some fields depend on others that do, so it goes on until nothing changes. */
  #showAsked(): void {
    for (let isChanging = true; isChanging; ) {
      const asked = new Set(askedFields(this.params).map(({ name }) => name))
      isChanging = false
      for (const { name } of Object.values(parts).flat()) {
        const input = this.#input(name)
        if (input.disabled !== asked.has(name)) continue
        input.disabled = !asked.has(name)
        ;(input.closest('.row') as HTMLElement).hidden = input.disabled
        isChanging = true
      }
    }
  }

  #input(name: string): HTMLInputElement {
    return this.#form.elements.namedItem(name) as HTMLInputElement
  }

  #sliderOf({ name }: HTMLInputElement): HTMLInputElement {
    return this.#form.querySelector(`[data-slides="${name}"]`) as HTMLInputElement
  }
}

function firstOf(field: Field): string {
  if (field.kind === 'choice') return Object.keys(field.choices)[0] ?? ''
  return (field.kind === 'number' && field.first) || ''
}

function rowOf(field: Field): string {
  const label = element('label', { for: field.name }, escaped(field.label))
  return element('div', { class: 'row' }, label, controlsOf(field))
}

function controlsOf(field: Field): string {
  if (field.kind === 'choice') return select(field)
  return field.kind === 'text' ? textInput(field) : numberInput(field)
}

function select({ name, choices }: ChoiceField): string {
  const options = Object.entries(choices).map(([value, says]) => element('option', { value }, escaped(says)))
  return element('select', { id: name, name }, ...options)
}

function textInput({ name, longest }: TextField): string {
  return element('input', { id: name, name, maxlength: longest, autocomplete: 'off', spellcheck: 'false' })
}

function numberInput({ name, label, unit, least, most, slideTo, step, isWhole, first }: NumberField): string {
  const isOptional = first === undefined
  const slider = {
    type: 'range',
    'data-slides': name,
    'aria-label': `${label}, slider`,
    min: isOptional ? 0 : Math.max(least, step),
    max: slideTo,
    step,
  }
  // As text, since numbers are cut to two decimals.
  const number = { type: 'number', id: name, name, min: String(least), max: String(most), step: isWhole ? '1' : 'any' }
  const described = unit === '' ? {} : { 'aria-describedby': `${name}-unit` }
  return (
    element('input', slider) +
    element('input', { ...number, ...described, placeholder: isOptional ? hint : '' }) +
    element('span', { id: `${name}-unit`, class: 'unit' }, escaped(unit))
  )
}
