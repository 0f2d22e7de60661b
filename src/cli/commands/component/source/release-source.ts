/** Decides from where the files of a release are downloaded, and what they are compared with. Pure. */
import { type CatalogEntry } from '../catalog/catalog.ts';
import { RELEASE_ARCHITECTURES, type ReleaseArch, templateProblem } from '../catalog/template.ts';
import { type ReleasesDeclaration, versionsOf } from './declarations.ts';
import { type LiteralValue, propertyOf, stringAt } from './literal.ts';

export interface SourceInput {
  readonly component: string;
  readonly version: string;
  /** Undefined: the repository does not declare the component. */
  readonly declaration: ReleasesDeclaration | undefined;
  readonly catalog: CatalogEntry | undefined;
  /** What the person asks for. */
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
  const { component, version, declaration, catalog } = input;
  const declared = declaration && stringAt(declaration.call, 'url');
  const entry = declaration && entryOf(declaration, version);
  const url = input.url ?? (entry && stringIn(entry, 'url')) ?? declared ?? catalog?.url;
  if (url === undefined) {
    return { problem: `no URL of ${component} is known: name it with --url, such as ${EXAMPLE}` };
  }
  const architectures = input.architectures ?? architecturesOf(declaration, entry);
  const problem = templateProblem(url) ?? architectureProblem(url, architectures);
  if (problem !== undefined) return { problem };
  const checksums = input.checksums ?? knownChecksums(input, url, declared);
  const ownUrl = declared !== undefined && declared !== url ? url : undefined;
  return { source: { url, checksums, architectures, ownUrl } };
}

const EXAMPLE = "'https://example.com/{version}/linux-{arch}'";

/** Those of the checksum file belong to one URL only. */
function knownChecksums(
  { declaration, catalog }: SourceInput,
  url: string,
  declared: string | undefined,
): string | undefined {
  const own = declaration && url === declared ? stringAt(declaration.call, 'checksums') : undefined;
  return own ?? (url === catalog?.url ? catalog.checksums : undefined);
}

/** A version has the architectures that it is declared with, else those of the other versions, else all. */
function architecturesOf(
  declaration: ReleasesDeclaration | undefined,
  entry: LiteralValue | undefined,
): readonly ReleaseArch[] {
  const others = declaration ? (versionsOf(declaration)?.properties ?? []) : [];
  const values = entry ? [entry] : others.map(({ value }) => value);
  const declared = RELEASE_ARCHITECTURES.filter((arch) => values.some((value) => stringIn(value, arch)));
  return declared.length > 0 ? declared : RELEASE_ARCHITECTURES;
}

function architectureProblem(url: string, architectures: readonly ReleaseArch[]): string | undefined {
  if (architectures.length < 2 || url.includes('{arch}')) return undefined;
  return `expected {arch} in the URL, because the release has files for ${architectures.join(' and ')}: ${url}`;
}

function entryOf(declaration: ReleasesDeclaration, version: string): LiteralValue | undefined {
  const versions = versionsOf(declaration);
  return versions && propertyOf(versions, version)?.value;
}

function stringIn(value: LiteralValue, name: string): string | undefined {
  return value.kind === 'object' ? stringAt(value, name) : undefined;
}
