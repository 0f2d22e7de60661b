/** Finds where a fleet repository declares the releases of its components, and which version it selects. Pure. */
import {
  type LiteralProperty,
  type ObjectLiteral,
  propertyOf,
  readObjectLiteral,
  stringAt,
} from './literal.ts';
import { type SourceToken, tokensOf } from './tokens.ts';

export interface FleetFile {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
}

/** One call of componentReleases. */
export interface ReleasesDeclaration {
  readonly source: FleetFile;
  readonly component: string;
  readonly call: ObjectLiteral;
}

/** One line of an object with the name `versions`. */
export interface VersionSelection {
  readonly source: FleetFile;
  readonly component: string;
  /** Undefined: it is not a plain string. */
  readonly version: string | undefined;
  readonly property: LiteralProperty;
}

export interface FleetDeclarations {
  readonly releases: readonly ReleasesDeclaration[];
  readonly selections: readonly VersionSelection[];
}

const CALL = 'componentReleases';
const SELECTED = 'versions';

export function declarationsIn(sources: readonly FleetFile[]): FleetDeclarations {
  const relevant = sources.filter(({ text }) => text.includes(CALL) || text.includes(SELECTED));
  const parsed = relevant.map((source) => ({ source, tokens: tokensOf(source.text) }));
  return {
    releases: parsed.flatMap(({ source, tokens }) => releasesIn(source, tokens)),
    selections: parsed.flatMap(({ source, tokens }) => selectionsIn(source, tokens)),
  };
}

function releasesIn(source: FleetFile, tokens: readonly SourceToken[]): readonly ReleasesDeclaration[] {
  return tokens.flatMap((token, index) => {
    if (token.text !== CALL || tokens[index + 1]?.text !== '(') return [];
    const call = readObjectLiteral(tokens, index + 2);
    const component = call && stringAt(call, 'component');
    return call === undefined || component === undefined ? [] : [{ source, component, call }];
  });
}

/** `const versions = { … }`, with or without a type. */
function selectionsIn(source: FleetFile, tokens: readonly SourceToken[]): readonly VersionSelection[] {
  return tokens.flatMap((token, index) => {
    if (token.text !== SELECTED || tokens[index - 1]?.text !== 'const') return [];
    const equals = tokens.findIndex(({ text }, at) => at > index && /^[=;]$/.test(text));
    const object = equals < 0 ? undefined : readObjectLiteral(tokens, equals + 1);
    return (object?.properties ?? []).map((property) => ({
      source,
      component: property.name,
      version: property.value.kind === 'string' ? property.value.value : undefined,
      property,
    }));
  });
}

/** The object in which each version has its entry. Undefined: it is written in another form. */
export function versionsOf({ call }: ReleasesDeclaration): ObjectLiteral | undefined {
  const value = propertyOf(call, 'versions')?.value;
  return value?.kind === 'object' ? value : undefined;
}

/** `fleet/versions.ts:3` */
export function placeOf({ path, text }: FleetFile, at: number): string {
  return `${path}:${text.slice(0, at).split('\n').length}`;
}
