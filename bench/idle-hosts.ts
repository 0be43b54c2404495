/** Bytes per host that has been asked once and is idle, and what is left when hosts are forgotten. */
import type { IdleHosts } from './idle-hosts-child.ts'
import { inChild } from './lib/child.ts'
import { printTable } from './lib/table.ts'

const contenders: [kind: string, name: string, counts: number[]][] = [
  ['map', 'one number per host in a Map (floor)', [100_000, 1_000_000]],
  ['hostpace-interval', 'hostpace, nothing declared: 1 layer', [100_000, 1_000_000]],
  ['hostpace-counter', 'hostpace, 3 layers (counter)', [100_000, 1_000_000]],
  ['hostpace-log', 'hostpace, 3 layers (exact log)', [100_000, 1_000_000]],
  ['limiter', 'limiter', [100_000, 1_000_000]],
  ['flexible', 'rate-limiter-flexible', [100_000, 1_000_000]],
  ['p-throttle', 'p-throttle', [100_000]],
  ['bottleneck', 'bottleneck', [20_000]],
]

const rows = contenders.map(([kind, name, counts]) => {
  const [some, many] = counts.map((count) => inChild<IdleHosts>('idle-hosts-child', kind, count))
  return [name, some?.bytes, many?.bytes, (many ?? some)?.left, (many ?? some)?.remembered]
})
printTable(
  'Bytes per idle host',
  ['', 'at 100,000', 'at 1,000,000', 'left once forgotten', 'hosts remembered then'],
  rows,
)
console.log(
  '\nWith the text of the key. Bottleneck: of 20,000 hosts. Forgotten: an hour later, where the library forgets.',
)
