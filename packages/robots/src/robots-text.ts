/** As much of a file as counts (RFC 9309, section 2.5): 500 KiB. */
export const mostBytes: number = 500 * 1024

/** What some sites answer with status 200 where they have no robots.txt. */
const htmlStart = /^\s*<(?:!doctype|html|head|body|title|script|meta|\?xml)\b/i

/**
 * The text of a robots.txt. What comes after 500 KiB is ignored, from the line on that goes over. It has to be UTF-8;
 * where it is not, the rest counts. A byte-order mark is dropped, also one that was encoded twice. A page of HTML
 * says nothing.
 */
export function robotsText(bytes: Uint8Array, contentType = ''): string {
  const kept = bytes.length <= mostBytes ? bytes : bytes.subarray(0, lastLineEnd(bytes, mostBytes))
  const text = new TextDecoder().decode(kept).replace(/^(?:\uFEFF|\u00EF\u00BB\u00BF)+/, '')
  return isHtml(text, contentType) ? '' : text
}

function isHtml(text: string, contentType: string): boolean {
  // Files of rules are sent as text/html, too, so that alone says nothing.
  return htmlStart.test(text) || (/\bx?html\b/i.test(contentType) && /^\s*</.test(text))
}

/** Where the last line ends that ends among the first `end` bytes. */
function lastLineEnd(bytes: Uint8Array, end: number): number {
  const head = bytes.subarray(0, end)
  return Math.max(head.lastIndexOf(10), head.lastIndexOf(13)) + 1
}
