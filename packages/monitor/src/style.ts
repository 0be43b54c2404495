/** How the page looks, in light and in dark. */
export const style = `
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }
body { margin: 1rem 1.5rem; }
header { display: flex; align-items: baseline; gap: 1rem; }
h1 { margin: 0; font-size: 1.4rem; }
h2 { margin: 1.2rem 0 0.4rem; font-size: 1rem; }
p { margin: 0; }
#state[data-live="no"] { color: light-dark(#b00020, #ff8a80); }
#totals { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; margin: 0.8rem 0 0; }
#totals div { display: flex; gap: 0.4rem; }
#totals dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; }
#strip { display: block; width: 100%; height: 48px; }
#controls { display: flex; flex-wrap: wrap; align-items: center; gap: 0.8rem; margin-bottom: 0.5rem; }
table { border-collapse: collapse; }
#hosts { width: 100%; }
th, td { padding: 0.15rem 0.6rem 0.15rem 0; text-align: left; vertical-align: top; font-variant-numeric: tabular-nums; }
tbody tr { border-top: 1px solid light-dark(#ddd, #444); }
#hosts td:first-child { overflow-wrap: anywhere; min-width: 12rem; }
#hosts canvas { display: block; width: 240px; height: 18px; }
tr[data-held="yes"] { background: light-dark(#fff3d6, #4a3a10); }
i[data-layer] { display: inline-block; width: 0.7em; height: 0.7em; margin-right: 0.4em; }
`
