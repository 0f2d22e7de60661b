/** Decides which lines of a fleet repository a new release changes: one entry, and the selected version. Pure. */
import { compareVersions } from '../../../../agent/target/version-range.ts';
import type { ReleaseDigests } from '../../../../constructs/releases.ts';
import { placeOf } from './declarations.ts';
import { formatEntry, indentAt, styleOf } from './entry.ts';
import { type EditRefusal, type FoundComponent, placeOfReleases } from './find.ts';
import { type LiteralProperty, propertyOf, stringAt } from './literal.ts';

export interface SourceEdit {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly because: string;
}

export interface NewRelease {
  readonly version: string;
  readonly digests: ReleaseDigests;
  /** Whether the version becomes the selected one. */
  readonly select: boolean;
}

export type ReleasePlan =
  | { readonly edits: readonly SourceEdit[]; readonly refused?: never }
  | { readonly refused: EditRefusal; readonly edits?: never };

/** No edits: the release is declared, and selected if it shall be. */
export function planReleaseEdits(found: FoundComponent, release: NewRelease): ReleasePlan {
  const existing = propertyOf(found.versions, release.version);
  const refused = existing ? differenceReason(found, existing, release) : undefined;
  if (refused) return { refused };
  const selected = release.select ? planSelection(found, release.version) : { edits: [] };
  if (selected.refused) return selected;
  const edits = [...(existing ? [] : planEntry(found, release)), ...selected.edits];
  return { edits: edits.toSorted((a, b) => Number(a.path > b.path) || a.start - b.start) };
}

/** A published file never changes: another digest is an attack, a fault in between, or a publisher who replaced it. */
function differenceReason(
  { declaration: { source } }: FoundComponent,
  { key, value }: LiteralProperty,
  { version, digests }: NewRelease,
): EditRefusal | undefined {
  const where = placeOf(source, key.start);
  if (value.kind !== 'object') {
    return { because: `expected an object with the digests of ${version}`, where, hint: 'fix it by hand' };
  }
  for (const arch of ['amd64', 'arm64'] as const) {
    const [declared, published] = [stringAt(value, arch), digests[arch]];
    if (published === undefined || declared === published) continue;
    if (declared === undefined) {
      const hint = `add ${arch}: '${published}' by hand`;
      return { because: `${version} is declared without a digest for ${arch}`, where, hint };
    }
    return {
      because:
        `the file of ${version} for ${arch} is not the one that was declared: ` +
        `expected sha256 ${declared}, published is ${published}`,
      where,
      hint: 'do not use the file: find out from its publisher why it was replaced. Nothing was changed',
      isDigestChanged: true,
    };
  }
  return undefined;
}

function planSelection({ declaration, selection }: FoundComponent, version: string): ReleasePlan {
  const { component } = declaration;
  if (selection?.version === version) return { edits: [] };
  if (selection === undefined) {
    return {
      refused: {
        because: `no version of ${component} is selected: found no \`const versions = { '${component}': '…' }\``,
        where: placeOfReleases(declaration),
        hint: `add '${component}': '${version}' to the versions of the fleet by hand, or add the release only: kubenode component add`,
      },
    };
  }
  const { start, end } = selection.property.value;
  const path = selection.source.path;
  const because = `selects ${version} instead of ${selection.version}`;
  return { edits: [{ path, start: start + 1, end: end - 1, text: version, because }] };
}

function planEntry(
  { declaration, versions }: FoundComponent,
  { version, digests }: NewRelease,
): readonly SourceEdit[] {
  const { path, text } = declaration.source;
  const style = styleOf(text, versions);
  const entry = formatEntry(version, digests, style);
  const because = `declares release ${version}`;
  const { properties } = versions;
  const last = properties.at(-1);
  if (last === undefined) {
    const inside = `{${style.eol}${entry},${style.eol}${indentAt(text, versions.start)}}`;
    return [{ path, start: versions.start, end: versions.end, text: inside, because }];
  }
  const next = properties.findIndex((property) => comesBefore(version, property.name, properties));
  const before = next < 0 ? last.value.end : (properties[next - 1]?.value.end ?? versions.start);
  const start = lineAfter(text, before);
  if (next >= 0 || last.hasComma) {
    return [{ path, start, end: start, text: `${entry},${style.eol}`, because }];
  }
  const comma = { path, start: last.value.end, end: last.value.end, text: ',', because };
  return [comma, { path, start, end: start, text: `${entry}${style.eol}`, because }];
}

/** In the order that the versions have: the newest first, unless they begin with the oldest. */
function comesBefore(version: string, other: string, all: readonly LiteralProperty[]): boolean {
  const [first, last] = [all[0]?.name ?? '', all.at(-1)?.name ?? ''];
  const isAscending = compareVersions(first, last) < 0;
  return isAscending ? compareVersions(version, other) < 0 : compareVersions(version, other) > 0;
}

/** The next line belongs to the next version, with the comments before it. */
function lineAfter(text: string, at: number): number {
  return text.indexOf('\n', at) + 1;
}
