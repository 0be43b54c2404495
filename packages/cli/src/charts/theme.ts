/** Colours that stay apart for those who see fewer of them (after Okabe and Ito), each with 3:1 or more on white. */
const seriesColours = ['#0067a5', '#c81e4f', '#00875f', '#b06500', '#7a4fb5', '#4b5563'] as const

export const colours = { ink: '#1f2933', muted: '#5f6c7b', grid: '#e4e7eb', paper: '#ffffff' } as const

export function colourOf(index: number): string {
  return seriesColours[index % seriesColours.length] as string
}
