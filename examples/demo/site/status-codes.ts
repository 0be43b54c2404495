import { STATUS_CODES } from 'node:http'
import type { Page } from './page.ts'

interface StatusClass {
  group: string
  meaning: string
  advice: string
}

const classes: Record<string, StatusClass> = {
  3: {
    group: 'Redirection',
    meaning: 'The server answers that the client has to look further before the request is complete.',
    advice:
      'The next request may go to another host. That host has limits of its own, so a polite client paces each hop ' +
      'by the origin that it really goes to.',
  },
  4: {
    group: 'Client errors',
    meaning: 'The server believes that the request itself is at fault.',
    advice:
      'Sending the same request again at once will bring the same answer. A client that keeps a list of what has ' +
      'failed spares the server the second look.',
  },
  5: {
    group: 'Server errors',
    meaning: 'The request looked sound, and the server failed to fulfil it.',
    advice:
      'The server may be under strain already. Wait before another try, longer after each failure, and look for ' +
      'Retry-After first: it says how long.',
  },
}

const remarks: Record<number, string> = {
  301: 'The move is for good: links and bookmarks should be changed to the new address.',
  304: 'Nothing has changed since the copy that the client holds, and so nothing but headers is sent.',
  307: 'The method and the body stay what they were when the request is repeated at the other address.',
  403: 'Some services answer this where others would say 429; a hint about the rate in the headers tells them apart.',
  404: 'Nothing is known about whether the page will ever come back. 410 would say that it will not.',
  408: 'The connection was idle for longer than the server cares to hold it open.',
  418: 'It began as a joke about coffee pots, and it is kept out of respect.',
  425: 'The request came in early data and might be a replay, so the server would rather not act on it.',
  429: 'The client has sent too many requests in a given time. Retry-After may say when to come again.',
  451: 'The number recalls a novel about burning books.',
  503: 'The server is overloaded or down for maintenance; with Retry-After it says for how long.',
  511: 'A captive portal wants something from the user before it lets anything through.',
}

/** A page for each status code of these classes (their first digit), from the table that Node.js carries. */
export function statusCodePages(firstDigits: readonly number[]): Page[] {
  const codes = Object.keys(STATUS_CODES).map(Number)
  return codes.filter((code) => firstDigits.includes(Math.floor(code / 100))).map(statusCodePage)
}

function statusCodePage(code: number): Page {
  const digit = String(code).charAt(0)
  const { group, meaning, advice } = classes[digit] as StatusClass
  const phrase = STATUS_CODES[code]
  const remark = remarks[code]
  return {
    path: `/codes/${code}.html`,
    title: `${code} ${phrase}`,
    group,
    paragraphs: [
      `On the wire the first line of the answer reads “HTTP/1.1 ${code} ${phrase}”. ${meaning}`,
      ...(remark === undefined ? [] : [remark]),
      advice,
      `A client that has never heard of ${code} must treat it as ${digit}00, the general member of its class.`,
    ],
  }
}
