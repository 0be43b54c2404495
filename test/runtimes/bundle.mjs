import { createRequire } from 'node:module'
import { join } from 'node:path'

/** esbuild as size-limit has it, so that there is no second one. */
const { build } = createRequire(createRequire(import.meta.url).resolve('@size-limit/esbuild'))('esbuild')

/**
 * Bundles the packages of a project for browsers, each for itself and all together with the programs of page and worker.
 *
 * @returns the files of the page by path, if there are any, and in `failure` what was wrong or `''`
 */
export async function bundle(project) {
  const packages = ['core', 'fetch', 'robots'].map((name) => `node_modules/@hostpace/${name}/dist/index.js`)
  const options = { platform: 'browser', format: 'esm', target: 'es2023', bundle: true, minify: true, metafile: true }
  const input = {
    absWorkingDir: project,
    entryPoints: ['page.mjs', 'worker.mjs', ...packages],
    outdir: join(project, 'bundle'),
  }
  try {
    const { outputFiles, metafile, warnings } = await build({ ...options, ...input, write: false, logLevel: 'silent' })
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path))
    const problems = [...warnings.map(({ text }) => text), ...imports.map((path) => `${path} is still imported`)]
    const scriptOf = (name) => outputFiles.find(({ path }) => path.endsWith(`/bundle/${name}`)).text
    return { page: pageOf(scriptOf('page.js'), scriptOf('worker.js')), failure: problems.join('\n') }
  } catch (error) {
    return { page: undefined, failure: String(error.message) }
  }
}

function pageOf(script, worker) {
  // The browser takes the page for loaded when it has the image, which comes when the program is done.
  const html = '<!doctype html><output></output><img src="/image"><script type="module" src="/page.js"></script>'
  return {
    '/page': { type: 'text/html; charset=utf-8', content: html },
    '/page.js': { type: 'text/javascript; charset=utf-8', content: script },
    '/worker.js': { type: 'text/javascript; charset=utf-8', content: worker },
  }
}
