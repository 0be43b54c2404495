import { live } from './live.ts'
import { style } from './style.ts'

/** The page, and the headers that it is sent with. */
export interface Page {
  readonly headers: Record<string, string>
  readonly body: string
}

/** A function in the page; tools that keep the names of functions call a helper for it, which is not there. */
const script = `const __name = (fn) => fn\n;(${String(live)})()`

const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>hostpace</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>hostpace</h1>
<p id="state" role="status">connecting</p>
</header>
<noscript>This page needs JavaScript.</noscript>
<dl id="totals"></dl>
<h2>Waits by layer</h2>
<table id="layers"><thead><tr><th>layer</th><th>requests</th><th>together</th><th>each</th></tr></thead><tbody></tbody></table>
<h2>Departures of the last minute</h2>
<canvas id="strip" role="img" aria-label="A stroke for each departure of the last minute, the latest at the right"></canvas>
<p>Each stroke has the colour of the layer that its request waited for; grey ones went at once. <span id="more"></span></p>
<h2>Hosts</h2>
<form id="controls">
<label>Filter <input id="filter" type="search" autocomplete="off"></label>
<label>Order <select id="order"><option value="busy">held and busy first</option><option value="key">by name</option></select></label>
<button id="previous" type="button">previous</button>
<output id="range"></output>
<button id="next" type="button">next</button>
</form>
<table id="hosts">
<thead><tr><th>host</th><th>waiting</th><th>in flight</th><th>departed</th><th>refused</th><th>waits by layer</th>
<th>held</th><th>learned</th><th>last minute</th></tr></thead>
<tbody></tbody>
</table>
<script>${script}</script>
</body>
</html>
`

let made: Promise<Page> | undefined

/** The page is the same for all; what it shows comes later, as updates. */
export function makePage(): Promise<Page> {
  made ??= withHeaders()
  return made
}

async function withHeaders(): Promise<Page> {
  const policy = [
    "default-src 'none'",
    `script-src '${await hashOf(script)}'`,
    `style-src '${await hashOf(style)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ]
  return {
    body,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  }
}

/** What a Content-Security-Policy knows an inline script or style by (CSP level 3, section 2.3.1). */
async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}
