/** A host as one is compared with another: lower case, no dot at its end, no port of its scheme. */
export function comparableHost(text: string): string {
  const name = text.trim().toLowerCase()
  return name.replace(/(?<=\w)\.(?=$|:)/, '').replace(/(?<=[^:]|\]):(?:80|443)$/, '')
}

/** The host of a URL; `undefined` if it is none. */
export function hostOfUrl(text: string): string | undefined {
  if (!/^(?:https?|wss?):\/\//i.test(text) || !URL.canParse(text)) return undefined
  return comparableHost(new URL(text).host)
}
