/** The statements of a shell script, as a person enters them: each of one line, or of the lines up to its end. */

export function statementsOf(script: string): readonly string[] {
  const statements: string[] = [];
  let open = '';
  for (const line of script.split('\n')) {
    if (open === '' && /^\s*(?:#|$)/.test(line)) continue;
    open += open === '' ? line : `\n${line}`;
    if (!isComplete(open)) continue;
    statements.push(open);
    open = '';
  }
  if (open !== '') throw new Error(`a statement does not end: ${open}`);
  return statements;
}

/** Without the comment behind it. */
export function withoutComment(statement: string): string {
  return statement.includes('\n') ? statement : statement.replace(/\s+# .*$/, '');
}

const HERE_DOCUMENT = /<<'?(?<end>\w+)/;

function isComplete(text: string): boolean {
  const lines = text.split('\n');
  const end = HERE_DOCUMENT.exec(text)?.groups?.['end'];
  if (end !== undefined) return lines.length > 1 && lines.at(-1) === end;
  // A function has a body of several lines.
  if (lines[0]?.endsWith('{')) return lines.at(-1) === '}';
  return !text.endsWith('\\');
}
