/**
 * Milliseconds on a clock that all processes of this machine share. `performance.timeOrigin` is no such thing: each
 * process reads it off two clocks when it starts, and may lose its processor in between.
 */
export function machineMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}
