import { expect, test } from 'vitest'
import { type Learned, shiftLearned } from '../../src/learning/learned.ts'

test('on another clock all times are others, and nothing else is', () => {
  const gap = { gapMs: 5, learnedAtMs: 100, reason: 'a test' }
  const refused = { ...gap, refusedMs: 3, refusedAtMs: 90 }
  const limit = { name: 'a', remaining: 7, windowMs: 60, departedAtMs: 80 }
  const cases: [Learned, Learned][] = [
    [{}, {}],
    [{ gap }, { gap: { ...gap, learnedAtMs: 1100 } }],
    [{ gap: refused }, { gap: { ...refused, learnedAtMs: 1100, refusedAtMs: 1090 } }],
    [
      { published: [limit, { ...limit, resetAtMs: 110 }] },
      {
        published: [
          { ...limit, departedAtMs: 1080 },
          { ...limit, departedAtMs: 1080, resetAtMs: 1110 },
        ],
      },
    ],
  ]
  for (const [learned, expected] of cases) expect(shiftLearned(learned, 1000)).toEqual(expected)
})
