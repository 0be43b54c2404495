import { Listr } from 'listr2'
import { type HostName, hostNames } from './hosts.ts'

export interface HostProgress {
  done: number
  total: number
  /** What goes on right now, e.g. how long the next request has to wait. */
  note: string
}

export interface Progress {
  /** Takes the display away, with the last state left standing. */
  stop(): Promise<void>
}

/**
 * Shows how far each host is, several times a second in a terminal and as a plain line every five
 * seconds elsewhere.
 */
export function showProgress(read: (name: HostName) => HostProgress): Progress {
  return process.stdout.isTTY ? liveProgress(read) : plainProgress(read)
}

function liveProgress(read: (name: HostName) => HostProgress): Progress {
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const list = new Listr([], { concurrent: true, registerSignalListeners: false, renderer: 'default' })
  for (const name of hostNames) {
    list.add({
      title: name,
      task: async (_, task) => {
        const show = () => {
          task.title = liveLine(name, read(name))
        }
        show()
        const timer = setInterval(show, 100)
        await ended
        clearInterval(timer)
        show()
      },
    })
  }
  const finished = list.run()
  return {
    async stop() {
      end()
      await finished
    },
  }
}

function plainProgress(read: (name: HostName) => HostProgress): Progress {
  const startMs = performance.now()
  const print = () => {
    const seconds = Math.round((performance.now() - startMs) / 1000)
    const hosts = hostNames.map((name) => [name, read(name)] as const)
    const parts = hosts.map(([name, { done, total }]) => `${name} ${done}/${total}`)
    console.log(`${String(seconds).padStart(3)} s  ${parts.join('  ')}`)
  }
  const timer = setInterval(print, 5000)
  return {
    async stop() {
      clearInterval(timer)
      print()
    },
  }
}

function liveLine(name: HostName, { done, total, note }: HostProgress): string {
  const width = 30
  const full = total === 0 ? 0 : Math.round((Math.min(done, total) / total) * width)
  const bar = '█'.repeat(full) + '░'.repeat(width - full)
  return `${name.padEnd(9)}${bar} ${String(done).padStart(3)}/${total}  ${note}`
}
