/** A block of lines between two markers in a file that others write, too, such as /etc/hosts. Pure. */

const BEGIN = '# BEGIN kubenode';
const END = '# END kubenode';
const BLOCK = /^# BEGIN kubenode\n[^]*?^# END kubenode(?:\n|$)/m;

export function mergeBlock(content: string, found: string): string {
  const block = `${BEGIN}\n${withNewline(content)}${END}\n`;
  const match = BLOCK.exec(found);
  if (match) return found.slice(0, match.index) + block + found.slice(match.index + match[0].length);
  return withNewline(found) + block;
}

export function unmergeBlock(found: string): string {
  return found.replace(BLOCK, '');
}

/** Text that was cut off without a final newline must not swallow the marker. */
function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
