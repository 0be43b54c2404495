import { availableParallelism, loadavg } from 'node:os'

/**
 * How far apart, in milliseconds, the log may put two requests of one moment: the one that its clock can
 * tell apart, and more where programs wait for each other to get a processor and nobody can say which
 * request was held up on its way.
 */
export function stampResolution(): { resolutionMs: number; remark: string } {
  const [lastMinute = 0] = loadavg()
  const processors = availableParallelism()
  if (lastMinute <= processors / 2) return { resolutionMs: 1, remark: '' }
  const load = `load ${lastMinute.toFixed(1)} on ${processors} processors`
  return { resolutionMs: 20, remark: `This machine is busy (${load}), so stamps are trusted to 20 ms only.` }
}
