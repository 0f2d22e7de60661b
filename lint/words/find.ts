/** Finds banned phrases in comments, messages and docs, banned names in declarations, and names exported twice. */
import { API_FIELDS, BANNED_NAMES, BANNED_PHRASES, BANNED_WORDS, type BannedPhrase } from './banned.ts';
import { splitSource, type TextPart } from './source-text.ts';

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

export interface TextFile {
  readonly path: string;
  readonly text: string;
}

interface Rule {
  readonly pattern: RegExp;
  readonly except: RegExp | undefined;
  readonly instead: string;
}

const RULES: readonly Rule[] = BANNED_PHRASES.map(compileRule);

export function findInSource({ path, text }: TextFile): readonly Finding[] {
  const parts = splitSource(text);
  return [
    ...parts.flatMap((part) => (isProse(part) ? findPhrases(path, part.line, plainText(part)) : [])),
    ...parts.flatMap((part) => (part.kind === 'code' ? findNames(path, part) : [])),
    ...(path.startsWith('src/') ? parts.flatMap((part) => findFragment(path, part)) : []),
    ...findInPath(path),
  ].toSorted((a, b) => a.line - b.line);
}

export function findInDocument({ path, text }: TextFile): readonly Finding[] {
  return [...findPhrases(path, 1, text), ...findInPath(path)];
}

/** Names that more than one file of src exports, generated code aside. */
export function findTwiceExported(files: readonly TextFile[]): readonly Finding[] {
  const exports = files.flatMap(({ path, text }) => exportsIn(text).map((entry) => ({ path, ...entry })));
  return exports.flatMap(({ path, line, name }) => {
    const others = exports.filter((other) => other.name === name && other.path !== path);
    if (others.length === 0) return [];
    const instead = `a name of its own: also exported by ${others.map((other) => other.path).join(', ')}`;
    return { path, line, found: name, instead };
  });
}

function compileRule({ phrase, except, instead, lowerCase }: BannedPhrase): Rule {
  const flags = lowerCase ? 'g' : 'gi';
  return {
    pattern: new RegExp(`(?<![\\w'’-])${sourceOf(phrase)}(?![\\w-])`, flags),
    except: except && new RegExp(`\\b(?:${except.map(sourceOf).join('|')})(?!\\w)`, 'gi'),
    instead,
  };
}

function sourceOf(words: string): string {
  return words.replaceAll(' ', '\\s+');
}

/** A string without a space is a value or a name, not a sentence. */
function isProse({ kind, text }: TextPart): boolean {
  return kind === 'comment' || (kind === 'string' && /\S\s+\S/.test(text));
}

/** Without the decoration of a comment, the quotes of a template; every character keeps its place. */
function plainText({ kind, text }: TextPart): string {
  if (kind === 'string') return text.replaceAll('`', ' ');
  return text.replaceAll(/^[ \t]*(?:\/\*\*?|\*(?!\/)|\/\/)/gm, (decoration) => ' '.repeat(decoration.length));
}

function findPhrases(path: string, firstLine: number, text: string): Finding[] {
  const code = rangesOf(/`[^`\n]*`/g, text);
  return RULES.flatMap(({ pattern, except, instead }) => {
    const fine = [...code, ...(except ? rangesOf(except, text) : [])];
    return [...text.matchAll(pattern)].flatMap(({ index, 0: found }) => {
      const end = index + found.length;
      if (fine.some((range) => range.start < end && index < range.end)) return [];
      const line = firstLine + text.slice(0, index).split('\n').length - 1;
      return { path, line, found: found.replaceAll(/\s+/g, ' '), instead };
    });
  });
}

function rangesOf(pattern: RegExp, text: string): { start: number; end: number }[] {
  return [...text.matchAll(pattern)].map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
  }));
}

const DECLARATION =
  /\b(?:const|let|function\*?|class|interface|type|enum|readonly)\s+(?<name>[A-Za-z_$][\w$]*)|(?<=[{(,;\n]\s*)(?<field>[A-Za-z_$][\w$]*)(?=\??:\s)/g;

/** They declare the fields of the API, or evaluate them. */
const API_FILES = /^src\/(api|rules)\//;

function findNames(path: string, { text, line }: TextPart): Finding[] {
  return [...text.matchAll(DECLARATION)].flatMap(({ index, groups }) => {
    const { name: declared, field = '' } = groups ?? {};
    const name = declared ?? field;
    if (API_FIELDS.includes(name) && (declared === undefined || API_FILES.test(path))) return [];
    const instead = insteadOfName(name);
    return instead
      ? { path, line: line + text.slice(0, index).split('\n').length - 1, found: name, instead }
      : [];
  });
}

function insteadOfName(name: string): string | undefined {
  if (Object.hasOwn(BANNED_NAMES, name)) return BANNED_NAMES[name];
  const words = name.split(/(?=[A-Z])|[-_.]/).map((word) => word.toLowerCase());
  return words.flatMap((word) => (Object.hasOwn(BANNED_WORDS, word) ? (BANNED_WORDS[word] ?? []) : []))[0];
}

/** A doc comment that begins so has no verb, or none that a reader finds: `Of the view of Events.` */
const FRAGMENT = /^\/\*\*[\s*]*(?<word>Of|What)\b/;

function findFragment(path: string, { kind, text, line }: TextPart): Finding[] {
  const word = kind === 'comment' ? FRAGMENT.exec(text)?.groups?.['word'] : undefined;
  if (word === undefined) return [];
  return [{ path, line, found: `/** ${word} …`, instead: 'a sentence with a subject and a verb' }];
}

function findInPath(path: string): Finding[] {
  return path.split('/').flatMap((word) => {
    const name = word.replace(/(\.\w+)+$/, '');
    const instead = API_FIELDS.includes(name) ? undefined : insteadOfName(name);
    return instead ? { path, line: 1, found: `file or folder name ${word}`, instead } : [];
  });
}

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (?<name>[\w$]+)/gm;

/** Declarations only: what an index passes on is declared elsewhere. A type and a value may share a name. */
function exportsIn(text: string): readonly { name: string; line: number }[] {
  const code = splitSource(text).filter(({ kind }) => kind === 'code');
  return code.flatMap((part) =>
    [...part.text.matchAll(EXPORT)].map(({ index, groups }) => ({
      name: groups?.['name'] ?? '',
      line: part.line + part.text.slice(0, index).split('\n').length - 1,
    })),
  );
}
