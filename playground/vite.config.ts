import { fileURLToPath } from 'node:url'
import { defineConfig, type UserConfig } from 'vite'
import { viteSingleFile } from 'vite-plugin-singlefile'

const config: UserConfig = defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  server: { host: '127.0.0.1' },
  preview: { host: '127.0.0.1' },
  build: { target: 'es2023', emptyOutDir: true },
  // A browser loads no modules for a page on file://, where each file counts as an origin of its own.
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
})

export default config
