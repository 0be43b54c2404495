import { constants } from 'node:os'
import type { Page } from './page.ts'

const defaults: [group: string, names: RegExp, meaning: string][] = [
  [
    'Leaves a core dump',
    /^SIG(QUIT|ILL|TRAP|ABRT|IOT|BUS|FPE|SEGV|XCPU|XFSZ|SYS|UNUSED)$/,
    'Unless it is handled, the process ends and its memory is kept for a later look.',
  ],
  [
    'Stops or goes on',
    /^SIG(STOP|TSTP|TTIN|TTOU|CONT)$/,
    'It is part of job control: a shell uses it to put work aside and to take it up again.',
  ],
  ['Is ignored', /^SIG(CHLD|URG|WINCH)$/, 'Unless somebody listens, nothing happens at all.'],
  ['Ends the process', /./, 'Unless it is handled, the process ends without further words.'],
]

/** A page for each signal of this machine. */
export function signalPages(): Page[] {
  return Object.entries(constants.signals).map(([name, number]) => {
    const [group, , meaning] = defaults.find(([, names]) => names.test(name)) as (typeof defaults)[number]
    const caught = name === 'SIGKILL' || name === 'SIGSTOP'
    return {
      path: `/signals/${name}.html`,
      title: name,
      group,
      paragraphs: [
        `${name} is signal number ${number} on this machine. ${meaning}`,
        caught
          ? 'No process can catch or ignore it, which is the whole point.'
          : `A program may listen for it with process.on('${name}', …) and then decides by itself what to do.`,
        `A process that was ended by it is reported by shells with exit status ${128 + number}, which is 128 and the number.`,
      ],
    }
  })
}
