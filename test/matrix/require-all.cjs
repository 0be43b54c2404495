/** Loads every package, as it was built, by `require()` and by `import`: both must give one module. Prints what was wrong, by name, or `''`. */
const { readdirSync, readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')

const packages = join(__dirname, '../../packages')

async function problemsOf() {
  const problems = {}
  for (const folder of readdirSync(packages)) {
    const manifest = join(packages, folder, 'package.json')
    const { name, exports } = JSON.parse(readFileSync(manifest, 'utf8'))
    const requireHere = createRequire(manifest)
    const modules = Object.keys(exports ?? {}).filter((path) => !path.endsWith('.json'))
    for (const path of modules) {
      const entry = join(name, path)
      problems[entry] = await problemOf(requireHere, entry).catch((error) => String(error))
    }
  }
  return problems
}

async function problemOf(requireHere, entry) {
  const required = requireHere(entry)
  if (Object.keys(required).length === 0) return 'it exports nothing'
  return required === (await import(requireHere.resolve(entry))) ? '' : 'it is another module than the imported one'
}

problemsOf().then((problems) => console.log(JSON.stringify(problems)))
