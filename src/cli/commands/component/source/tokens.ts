/**
 * Splits TypeScript into tokens, as far as an edit of an object literal needs it: comments are skipped, strings, templates and regular
 * expressions are one token each. The compiler has no stable API for this, and a fleet repository needs no compiler to run. Pure.
 */

export interface SourceToken {
  readonly kind: 'name' | 'string' | 'other' | 'punctuation';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A text that ends inside a string, a comment or a template has no tokens after that. */
export function tokensOf(text: string): readonly SourceToken[] {
  const tokens: SourceToken[] = [];
  for (let at = 0; at < text.length; ) {
    const token = nextToken(text, at, tokens.at(-1));
    if (token === undefined) break;
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

const BLANK = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const NUMBER = /\d[\w.]*/y;
const STRING = /'(?:[^'\\\r\n]|\\[\s\S])*'|"(?:[^"\\\r\n]|\\[\s\S])*"/y;
const REGEX = /\/(?![*/])(?:[^/\\[\r\n]|\\.|\[(?:[^\]\\\r\n]|\\.)*\])+\/[a-z]*/y;

function nextToken(text: string, from: number, before: SourceToken | undefined): SourceToken | undefined {
  const start = from + lengthAt(BLANK, text, from);
  if (start >= text.length) return undefined;
  const kinds = [
    ['name', lengthAt(NAME, text, start)],
    ['string', lengthAt(STRING, text, start)],
    ['other', lengthAt(NUMBER, text, start)],
    ['other', text[start] === '`' ? templateLength(text, start) : 0],
    ['other', canBeginExpression(before) ? lengthAt(REGEX, text, start) : 0],
    ['punctuation', 1],
  ] as const;
  const [kind, length] = kinds.find(([, size]) => size > 0) ?? ['punctuation', 1];
  return { kind, text: text.slice(start, start + length), start, end: start + length };
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

const KEYWORDS = /^(?:return|typeof|case|in|of|void|delete|await|yield|throw|new|default|else|do)$/;

/** After a value a slash divides. */
function canBeginExpression(before: SourceToken | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'name') return KEYWORDS.test(before.text);
  return before.kind === 'punctuation' && !/[)\]}]/.test(before.text);
}

/** Includes its substitutions, and the templates in these. */
function templateLength(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '`') {
    if (text[at] === '\\') at += 2;
    else if (text.startsWith('${', at)) at = substitutionEnd(text, at + 2);
    else at += 1;
  }
  return Math.min(at + 1, text.length) - start;
}

function substitutionEnd(text: string, from: number): number {
  let depth = 1;
  let before: SourceToken | undefined;
  for (let at = from; ; at = before.end) {
    const token = nextToken(text, at, before);
    if (token === undefined) return text.length;
    before = token;
    depth += depthChange(token);
    if (depth === 0) return token.end;
  }
}

/** Counts brackets of all kinds: those of valid code are in pairs. */
export function depthChange({ kind, text }: SourceToken): number {
  if (kind !== 'punctuation') return 0;
  return Number('([{'.includes(text)) - Number(')]}'.includes(text));
}
