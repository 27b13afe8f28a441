import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cut, pieces, plain } from '../../console/logic/visible.ts'

test.each([
  ['ANSI colours', '\u001b[31mred\u001b[0m', '[ESC][31mred[ESC][0m'],
  ['the right-to-left override', 'a\u202egnp.exe', 'a[RLO]gnp.exe'],
  ['isolates', '\u2066x\u2069', '[LRI]x[PDI]'],
  ['what has no width', 'pass\u200bword\ufeff', 'pass[ZWSP]word[BOM]'],
  ['tags, which hide text from people', 'hi\u{e0041}', 'hi[U+E0041]'],
  ['other control characters', 'a\u0000\u0085\u2028b', 'a[NUL][U+0085][U+2028]b'],
  ['a CR that would overwrite the line', 'ok\rno', 'ok[CR]no'],
  ['line ends and tabs', 'a\r\nb\n\tc', 'a\r\nb\n\tc'],
  ['emoji of several characters', '👩‍💻 é ש', '👩‍💻 é ש'],
])('%s', (_name, text, shown) => {
  expect(plain(text)).toBe(shown)
})

test('the pieces are the whole text, and no plain piece has a hidden character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const all = pieces(text)
      expect(all.map((piece) => piece.text).join('')).toBe(text)
      const shown = all.filter(({ mark }) => mark === undefined).map((piece) => piece.text)
      expect(shown.join('')).not.toMatch(
        /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
      )
    }),
  )
})

test('a long text is cut between characters, and nothing is lost', () => {
  expect(cut('abc', 3)).toEqual({ text: 'abc', left: 0 })
  expect(cut('abcd', 3)).toEqual({ text: 'abc', left: 1 })
  expect(cut('ab😀', 3)).toEqual({ text: 'ab', left: 2 })
})
