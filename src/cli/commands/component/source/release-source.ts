/** Decides from where the files of a release are downloaded, and what they are compared with. Pure. */
import { type CatalogEntry } from '../catalog/catalog.ts';
import {
  checksumTemplateProblem,
  RELEASE_ARCHITECTURES,
  type ReleaseArch,
  templateProblem,
} from '../catalog/template.ts';
import { type ReleasesDeclaration, versionsOf } from './declarations.ts';
import { type LiteralValue, stringAt } from './literal.ts';

export interface SourceInput {
  readonly component: string;
  readonly version: string;
  /** Undefined: the repository does not declare the component. */
  readonly declaration: ReleasesDeclaration | undefined;
  readonly catalog: CatalogEntry | undefined;
  /** The flags of the person come first. */
  readonly url: string | undefined;
  readonly checksums: string | undefined;
  readonly architectures: readonly ReleaseArch[] | undefined;
}

export interface ReleaseSource {
  readonly url: string;
  readonly checksums: string | undefined;
  readonly architectures: readonly ReleaseArch[];
  /** The URL that the entry of the version must have, because the declaration has another one. */
  readonly ownUrl: string | undefined;
}

export type SourceOutcome =
  | { readonly source: ReleaseSource; readonly problem?: never }
  | { readonly problem: string; readonly source?: never };

export function releaseSourceOf(input: SourceInput): SourceOutcome {
  const declared = readDeclared(input);
  const url = input.url ?? knownUrl(declared, input.catalog);
  if (url === undefined) {
    return { problem: `no URL of ${input.component} is known: name it with --url, such as ${EXAMPLE}` };
  }
  const architectures = input.architectures ?? declared.architectures;
  const checksums = input.checksums ?? knownChecksums(url, declared, input.catalog);
  const source = { url, checksums, architectures, ownUrl: differentUrl(url, declared) };
  const problem = sourceProblem(source, declared);
  return problem === undefined ? { source } : { problem };
}

function sourceProblem(
  { url, checksums, architectures }: ReleaseSource,
  declared: DeclaredSource,
): string | undefined {
  return (
    templateProblem(url) ??
    architectureProblem(url, architectures) ??
    versionProblem(url, declared) ??
    (checksums === undefined ? undefined : checksumTemplateProblem(checksums))
  );
}

const EXAMPLE = "'https://example.com/{version}/linux-{arch}'";

interface DeclaredSource {
  readonly url?: string | undefined;
  /** The URL of the version itself. */
  readonly entryUrl?: string | undefined;
  readonly checksums?: string | undefined;
  readonly architectures: readonly ReleaseArch[];
  /** Whether the version is declared already. */
  readonly hasVersion: boolean;
}

function readDeclared({ declaration, version }: SourceInput): DeclaredSource {
  if (declaration === undefined) return { architectures: RELEASE_ARCHITECTURES, hasVersion: false };
  const { call } = declaration;
  const properties = versionsOf(declaration)?.properties ?? [];
  const entry = properties.find(({ name }) => name === version)?.value;
  return {
    url: stringAt(call, 'url'),
    entryUrl: entry && stringIn(entry, 'url'),
    checksums: stringAt(call, 'checksums'),
    hasVersion: entry !== undefined,
    architectures: architecturesIn(entry ? [entry] : properties.map(({ value }) => value)),
  };
}

/** A version has the architectures that it is declared with, else those of the other versions, else all. */
function architecturesIn(entries: readonly LiteralValue[]): readonly ReleaseArch[] {
  const declared = RELEASE_ARCHITECTURES.filter((arch) => entries.some((entry) => stringIn(entry, arch)));
  return declared.length > 0 ? declared : RELEASE_ARCHITECTURES;
}

function knownUrl(declared: DeclaredSource, catalog: CatalogEntry | undefined): string | undefined {
  return declared.entryUrl ?? declared.url ?? catalog?.url;
}

/** A checksum file belongs to one URL only. */
function knownChecksums(
  url: string,
  declared: DeclaredSource,
  catalog: CatalogEntry | undefined,
): string | undefined {
  const own = url === declared.url ? declared.checksums : undefined;
  return own ?? (url === catalog?.url ? catalog.checksums : undefined);
}

function differentUrl(url: string, declared: DeclaredSource): string | undefined {
  return declared.url === undefined || declared.url === url ? undefined : url;
}

function architectureProblem(url: string, architectures: readonly ReleaseArch[]): string | undefined {
  if (architectures.length < 2 || url.includes('{arch}')) return undefined;
  return `expected {arch} in the URL, because the release has files for ${architectures.join(' and ')}: ${url}`;
}

/** A URL that only one version has may be any. That of all versions would name the file of another version. */
function versionProblem(url: string, declared: DeclaredSource): string | undefined {
  const isOwn = declared.hasVersion || differentUrl(url, declared) !== undefined;
  if (isOwn || url.includes('{version}')) return undefined;
  return `expected {version} in the URL, because each version has its own files: ${url}`;
}

function stringIn(value: LiteralValue, name: string): string | undefined {
  return value.kind === 'object' ? stringAt(value, name) : undefined;
}
