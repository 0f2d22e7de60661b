/** Decides which artifacts a mirror of a fleet needs, and which of them it lacks. Pure. */
import type { ComponentArtifact } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';

/** The part of a MachineComponent that is read. It may come from git, without defaults. */
export interface MirroredSpec {
  readonly component: string;
  readonly version: string;
  readonly artifacts?: readonly MirroredArtifact[];
}

export type MirroredArtifact = Pick<ComponentArtifact, 'os' | 'arch' | 'url' | 'sha256'> &
  Partial<Pick<ComponentArtifact, 'mirrors' | 'sizeBytes'>>;

export interface MirrorEntry {
  readonly sha256: string;
  /** The versions that use the content, as COMPONENT VERSION. */
  readonly usedBy: readonly string[];
  readonly platform: { readonly os: string; readonly arch: string };
  readonly urls: readonly string[];
  readonly sizeBytes?: number;
}

/** Returns one entry for each content, in a fixed order. */
export function planMirror(specs: readonly MirroredSpec[]): readonly MirrorEntry[] {
  const entries = new Map<string, MirrorEntry>();
  for (const { component, version, artifacts = [] } of specs) {
    for (const artifact of artifacts) {
      const entry = entryOf(`${component} ${version}`, artifact);
      const before = entries.get(artifact.sha256);
      entries.set(artifact.sha256, before ? merge(before, entry) : entry);
    }
  }
  return [...entries.values()].toSorted(
    (a, b) => compare(a.usedBy.join(), b.usedBy.join()) || compare(a.sha256, b.sha256),
  );
}

function entryOf(
  user: string,
  { os, arch, url, mirrors = [], sha256, sizeBytes }: MirroredArtifact,
): MirrorEntry {
  const urls = unique([url, ...mirrors]);
  return { sha256, usedBy: [user], platform: { os, arch }, urls, ...optional('sizeBytes', sizeBytes) };
}

function merge(before: MirrorEntry, { usedBy, urls, sizeBytes }: MirrorEntry): MirrorEntry {
  return {
    ...before,
    usedBy: unique([...before.usedBy, ...usedBy]),
    urls: unique([...before.urls, ...urls]),
    ...optional('sizeBytes', before.sizeBytes ?? sizeBytes),
  };
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
