export { createMonitor, type Monitor, type NodeRequest, type NodeResponse } from './monitor.ts'
export type { MonitorOptions } from './monitor-options.ts'
