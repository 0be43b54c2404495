export { CrawlDelayError, DisallowedError } from './errors.ts'
export { parseRobots, type RobotsRules } from './parse-robots.ts'
export { type Robots, robots } from './robots.ts'
export type { OnTooLong, RobotsFetch, RobotsOptions } from './robots-options.ts'
