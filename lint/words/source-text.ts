/** Splits TypeScript into what people read (comments, strings) and code, without a parser. */

export interface TextPart {
  readonly kind: 'comment' | 'string' | 'code';
  readonly text: string;
  /** Of its first character, from 1. */
  readonly line: number;
}

/** A slash after one of these begins a regular expression; after anything else it divides. */
const BEFORE_REGEXP =
  /(?:^|[=([{,;:!&|?+\-*%^~<>]|\b(?:return|typeof|case|in|of|delete|void|throw|await|yield))\s*$/;

// Comments in consecutive lines are one: a phrase may go over the end of a line.
const COMMENT = /\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*|\/\*[\s\S]*?\*\//y;
const QUOTED = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y;
const REGEXP = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;

export function splitSource(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let line = 1;
  const add = (kind: TextPart['kind'], part: string): void => {
    if (part) parts.push({ kind, text: part, line });
    line += part.split('\n').length - 1;
  };
  scan(text, 0, add);
  return parts;
}

type Add = (kind: TextPart['kind'], part: string) => void;

/** Reads code from `start` to the end of the text, or to the brace that closes a `${`; returns where it ended. */
function scan(text: string, start: number, add: Add): number {
  let at = start;
  let codeFrom = start;
  let depth = 0;
  const endCode = (): void => add('code', text.slice(codeFrom, at));
  while (at < text.length) {
    const token = tokenAt(text, at, text.slice(codeFrom, at));
    if (token) {
      if (token.kind !== 'code') {
        endCode();
        add(token.kind, token.text);
        codeFrom = at + token.text.length;
      }
      at += token.text.length;
    } else if (text[at] === '`') {
      endCode();
      at = codeFrom = scanTemplate(text, at, add);
    } else {
      if (text[at] === '{') depth += 1;
      if (text[at] === '}') depth -= 1;
      if (depth < 0) break;
      at += 1;
    }
  }
  endCode();
  return at;
}

function tokenAt(
  text: string,
  at: number,
  before: string,
): { kind: TextPart['kind']; text: string } | undefined {
  if (text[at] === '/') {
    const comment = matchAt(COMMENT, text, at);
    if (comment !== undefined) return { kind: 'comment', text: comment };
    const regexp = BEFORE_REGEXP.test(before.slice(-40)) ? matchAt(REGEXP, text, at) : undefined;
    return regexp === undefined ? undefined : { kind: 'code', text: regexp };
  }
  const quoted = matchAt(QUOTED, text, at);
  return quoted === undefined ? undefined : { kind: 'string', text: quoted };
}

function scanTemplate(text: string, start: number, add: Add): number {
  let at = start + 1;
  let from = start;
  while (at < text.length && text[at] !== '`') {
    if (text[at] === '\\') {
      at += 2;
    } else if (text.startsWith('${', at)) {
      add('string', text.slice(from, at + 2));
      at = from = scan(text, at + 2, add);
    } else {
      at += 1;
    }
  }
  add('string', text.slice(from, at + 1));
  return at + 1;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
