export const width = 1200

export const margin = { left: 210, right: 40 }

/** Colours that stay apart for those who see fewer of them (after Okabe and Ito), each with 3:1 or more on white. */
export const colours = {
  ink: '#1f2933',
  muted: '#5f6c7b',
  grid: '#e4e7eb',
  paper: '#ffffff',
  refused: '#c81e4f',
  held: '#fbe4ea',
  leaky: '#0067a5',
  tokens: '#c81e4f',
}

export const clientColours: Record<string, string> = {
  got: '#0067a5',
  axios: '#d17a00',
  undici: '#00875f',
}

export const style = `
  text { font-family: 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif; font-size: 13px; fill: ${colours.ink} }
  .title { font-size: 24px; font-weight: 600 }
  .heading { font-size: 17px; font-weight: 600 }
  .name { font-size: 15px; font-weight: 600 }
  .muted { fill: ${colours.muted}; font-size: 12px }
  .axis { fill: ${colours.muted}; font-size: 11px }
`
