/* The program of a process of its own: it takes the lock of a file, keeps it as long as it is told, and lets go. */
import { openDatabase } from '../src/database.ts'

const [path, keepMs] = process.argv.slice(2) as [string, string]
const db = openDatabase(path)
db.exec('PRAGMA busy_timeout = 5000')
db.exec('BEGIN EXCLUSIVE')
process.send?.({ kind: 'locked' })
setTimeout(() => {
  db.exec('COMMIT')
  db.close()
  process.disconnect()
}, Number(keepMs))
