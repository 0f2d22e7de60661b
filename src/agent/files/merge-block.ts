/** A block of lines between two markers in a file that others write, too, such as /etc/hosts. Pure. */

const BEGIN = '# BEGIN kubenode';
const END = '# END kubenode';
/** Never over a second beginning: where a person removed an end, the lines of others after it are not ours. */
const BLOCK = /^# BEGIN kubenode\r?\n(?:(?!# (?:BEGIN|END) kubenode\r?$)[^\n]*\n)*# END kubenode\r?(?:\n|$)/m;
/** The lines that mark a block. In its content they would end it early. */
const MARKS = /^# (?:BEGIN|END) kubenode\r?(?:\n|$)/gm;

export function mergeBlock(content: string, found: string): string {
  const block = `${BEGIN}\n${withNewline(content.replace(MARKS, ''))}${END}\n`;
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
