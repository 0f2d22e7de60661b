/** Reads an object literal of TypeScript with the place of each part: strings and objects of them, everything else is opaque. Pure. */
import { depthChange, type SourceToken } from './tokens.ts';

export interface TextRange {
  readonly start: number;
  readonly end: number;
}

export interface StringLiteral extends TextRange {
  readonly kind: 'string';
  readonly value: string;
}

export interface ObjectLiteral extends TextRange {
  readonly kind: 'object';
  readonly properties: readonly LiteralProperty[];
  /** The first part that is not a property with a plain name: a spread, a shorthand, a computed name, a method. */
  readonly opaque?: TextRange;
}

export interface OpaqueLiteral extends TextRange {
  readonly kind: 'opaque';
}

export type LiteralValue = StringLiteral | ObjectLiteral | OpaqueLiteral;

export interface LiteralProperty {
  readonly name: string;
  readonly key: SourceToken;
  readonly value: LiteralValue;
  /** Whether a comma follows, which the last one may lack. */
  readonly hasComma: boolean;
}

/** Reads the object that begins at the token with that index. Undefined: it does not begin there, or does not end. */
export function readObjectLiteral(tokens: readonly SourceToken[], index: number): ObjectLiteral | undefined {
  const open = tokens[index];
  const inside = open?.text === '{' ? readParts(tokens, index + 1) : undefined;
  if (open === undefined || inside === undefined) return undefined;
  const parts = inside.parts.map((part) => ({ first: part.tokens[0], property: readProperty(part) }));
  const opaque = parts.find(({ property }) => property === undefined)?.first;
  return {
    kind: 'object',
    start: open.start,
    end: inside.end,
    properties: parts.flatMap(({ property }) => property ?? []),
    ...(opaque && { opaque }),
  };
}

interface ObjectPart {
  readonly tokens: readonly SourceToken[];
  readonly hasComma: boolean;
}

interface ObjectParts {
  readonly parts: readonly ObjectPart[];
  /** After the closing brace. */
  readonly end: number;
}

/** Splits at the commas, up to the closing brace. */
function readParts(tokens: readonly SourceToken[], from: number): ObjectParts | undefined {
  const parts: ObjectPart[] = [];
  for (let at = from; ; ) {
    const next = partEnd(tokens, at);
    const end = tokens[next];
    const hasComma = end?.text === ',';
    if (next > at || hasComma) parts.push({ tokens: tokens.slice(at, next), hasComma });
    if (!hasComma) return end?.text === '}' ? { parts, end: end.end } : undefined;
    at = next + 1;
  }
}

export function propertyOf(object: ObjectLiteral, name: string): LiteralProperty | undefined {
  return object.properties.find((property) => property.name === name);
}

export function stringAt(object: ObjectLiteral, name: string): string | undefined {
  const value = propertyOf(object, name)?.value;
  return value?.kind === 'string' ? value.value : undefined;
}

/** The index of the comma or bracket that ends the part. */
function partEnd(tokens: readonly SourceToken[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || (depth === 0 && /^[,)\]}]$/.test(token.text))) return at;
    depth += depthChange(token);
  }
  return tokens.length;
}

function readProperty({ tokens, hasComma }: ObjectPart): LiteralProperty | undefined {
  const [key, colon, first] = tokens;
  if (key === undefined || first === undefined || colon?.text !== ':') return undefined;
  const name = nameOf(key);
  return name === undefined ? undefined : { name, key, value: readValue(tokens.slice(2), first), hasComma };
}

function readValue(value: readonly SourceToken[], first: SourceToken): LiteralValue {
  const last = value.at(-1) ?? first;
  const object = readObjectLiteral(value, 0);
  if (object?.end === last.end) return object;
  const text = value.length === 1 ? stringValue(first) : undefined;
  if (text !== undefined) return { kind: 'string', value: text, start: first.start, end: first.end };
  return { kind: 'opaque', start: first.start, end: last.end };
}

function nameOf(key: SourceToken): string | undefined {
  return key.kind === 'name' ? key.text : stringValue(key);
}

/** Undefined for a string with escapes, which no version, digest or URL needs. */
function stringValue({ kind, text }: SourceToken): string | undefined {
  return kind === 'string' && !text.includes('\\') ? text.slice(1, -1) : undefined;
}
