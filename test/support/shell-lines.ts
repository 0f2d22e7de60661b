/** The commands in a shell script of a document, as words. It knows what our documents use of the shell, not all of it. */

/** Each simple command, also those of pipelines, loops, subshells and substitutions, without redirections and assignments. */
export function shellCommands(script: string): readonly (readonly string[])[] {
  const commands: (readonly string[])[] = [];
  collect(withoutHereDocuments(script), commands);
  return commands;
}

/** Without the lines from `<<EOF` to `EOF`. */
function withoutHereDocuments(script: string): string {
  return script.replaceAll(/<<'?(?<end>\w+)'?(?<rest>.*)\n[\s\S]*?\n\k<end>$/gm, '$<rest>');
}

interface Position {
  readonly text: string;
  at: number;
}

type Commands = (readonly string[])[];

const BLANK = /^(?:[ \t]|\\\n)+/;
const COMMENT = /^#.*/;
const REDIRECTION = /^\d*(?:>>?|<)&?[ \t]*/;
const SEPARATOR = /^(?:&&|\|\||[;&|()\n])/;

function collect(text: string, commands: Commands): void {
  const position: Position = { text, at: 0 };
  let words: string[] = [];
  const finish = (): void => {
    const command = simpleCommand(words);
    if (command.length > 0) commands.push(command);
    words = [];
  };
  const skip = (pattern: RegExp): boolean => {
    const [found] = pattern.exec(text.slice(position.at)) ?? [];
    position.at += found?.length ?? 0;
    return found !== undefined;
  };
  while (position.at < text.length) {
    // A word is read whole: a # that is looked at here begins one.
    if (skip(BLANK) || skip(COMMENT)) continue;
    if (skip(SEPARATOR)) finish();
    else if (skip(REDIRECTION)) readWord(position, commands);
    else words.push(readWord(position, commands));
  }
  finish();
}

/** What means itself: plain characters, one behind a backslash, and single quotes. */
const LITERAL = /^(?:(?<plain>[^\s;&|()'"\\$]+|\$(?!\())|\\(?<escaped>[^])|'(?<quoted>[^']*)')/;
const LITERAL_IN_QUOTES = /^(?:(?<plain>[^"\\$]+|\$(?!\())|\\(?<escaped>[^]))/;

/** Without its quotes. A substitution becomes `text`, and its commands are collected. */
function readWord(position: Position, commands: Commands, literal = LITERAL): string {
  let word = '';
  for (;;) {
    const piece = readPiece(position, commands, literal);
    if (piece === undefined) return word;
    word += piece;
  }
}

/** Undefined at the end of the word. */
function readPiece(position: Position, commands: Commands, literal: RegExp): string | undefined {
  const rest = position.text.slice(position.at);
  const found = literal.exec(rest);
  if (found) {
    position.at += found[0].length;
    return Object.values(found.groups ?? {}).find((text) => text !== undefined) ?? '';
  }
  if (rest.startsWith('$(')) return readSubstitution(position, commands);
  if (!rest.startsWith('"') || literal === LITERAL_IN_QUOTES) return undefined;
  position.at += 1;
  const quoted = readWord(position, commands, LITERAL_IN_QUOTES);
  position.at += 1;
  return quoted;
}

function readSubstitution(position: Position, commands: Commands): string {
  const end = closingParenthesis(position.text, position.at + 1);
  collect(position.text.slice(position.at + 2, end), commands);
  position.at = end + 1;
  return 'text';
}

function closingParenthesis(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error(`a parenthesis is not closed: ${text.slice(open)}`);
}

/** A `for` or `case` has its commands behind a keyword of its own. */
const NO_COMMAND = new Set(['for', 'case', 'done', 'fi', 'esac', '}']);

function simpleCommand(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !/^(?:do|then|else|if|while|[{!]|[A-Za-z_]\w*=.*)$/s.test(word));
  return first < 0 || NO_COMMAND.has(words[first] ?? '') ? [] : words.slice(first);
}
