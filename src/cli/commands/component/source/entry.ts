/** Formats the entry of a release as its neighbors in the file are formatted. Pure. */
import type { ReleaseDigests } from '../../../../constructs/releases.ts';
import type { LiteralProperty, ObjectLiteral } from './literal.ts';

export interface EntryStyle {
  readonly eol: string;
  /** White space before the version, and how much more its digests have. */
  readonly indent: string;
  readonly step: string;
  readonly quote: string;
  readonly isOneLine: boolean;
}

const STEP = '  ';

export const DEFAULT_STYLE: EntryStyle = {
  eol: '\n',
  indent: STEP.repeat(2),
  step: STEP,
  quote: "'",
  isOneLine: false,
};

/** Without a neighbor the entry is one step deeper than the line on which the object begins. */
export function styleOf(text: string, versions: ObjectLiteral): EntryStyle {
  const outer = indentAt(text, versions.start);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const [neighbor] = versions.properties;
  const step = outer.startsWith('\t') ? '\t' : STEP;
  if (neighbor === undefined) return { ...DEFAULT_STYLE, eol, indent: outer + step, step };
  const indent = indentAt(text, neighbor.key.start);
  const quote = neighbor.key.text.startsWith('"') ? '"' : "'";
  const [inner] = neighbor.value.kind === 'object' ? neighbor.value.properties : [];
  const innerIndent = inner ? indentAt(text, inner.key.start) : '';
  return {
    eol,
    indent,
    step: innerIndent.slice(indent.length) || step,
    quote,
    isOneLine: isOnOneLine(text, neighbor),
  };
}

/** Without the comma after it, and without a line break at its end. */
export function formatEntry(version: string, digests: ReleaseDigests, style: EntryStyle): string {
  const { eol, indent, step, quote, isOneLine } = style;
  const parts = (['url', 'amd64', 'arm64'] as const).flatMap((name) => {
    const value = digests[name];
    return value === undefined ? [] : [`${name}: ${quote}${value}${quote}`];
  });
  const key = `${indent}${quote}${version}${quote}`;
  if (isOneLine) return `${key}: { ${parts.join(', ')} }`;
  return `${key}: {${eol}${parts.map((part) => `${indent}${step}${part},${eol}`).join('')}${indent}}`;
}

export function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function isOnOneLine(text: string, { key, value }: LiteralProperty): boolean {
  return !text.slice(key.start, value.end).includes('\n');
}
