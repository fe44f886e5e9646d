/** A Markdown text without the padding of its tables, which a formatter chooses. */
export function withoutPadding(markdown: string): string {
  return markdown.replace(/ *\| */g, '|').replace(/-{3,}/g, '---')
}
