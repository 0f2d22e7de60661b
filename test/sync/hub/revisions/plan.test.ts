import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import {
  type IndexedRevision,
  missingRevisions,
  revisionsToKeep,
} from '../../../../src/sync/hub/revisions/plan.ts';

const MIB = 1024 * 1024;

/** `c1 a1 b1` at minute 1: commit c1 with the units a1 and b1. */
function revision(minute: number, commit: string, ...units: readonly string[]): IndexedRevision {
  return {
    commit,
    digest: units.join(' '),
    keptAt: new Date(minute * 60_000).toISOString(),
    units: units.map((digest) => ({ unit: digest.slice(0, 1), digest })),
  };
}

function kept(
  all: readonly IndexedRevision[],
  sizes: Readonly<Record<string, number>> = {},
): readonly string[] {
  return revisionsToKeep(all, new Map(Object.entries(sizes))).map(({ commit }) => commit);
}

describe('revisionsToKeep', () => {
  it('S24 keeps the newest 20, in order', () => {
    const all = Array.from({ length: 25 }, (_, at) => revision(at, `c${at}`, `a${at}`));
    expect(kept(all)).toEqual(Array.from({ length: 20 }, (_, at) => `c${24 - at}`));
  });

  it('S24 keeps a content once, under its newest commit', () => {
    expect(kept([revision(1, 'c1', 'a1'), revision(2, 'c2', 'a2'), revision(3, 'c3', 'a1')])).toEqual([
      'c3',
      'c2',
    ]);
  });

  it('S24 drops the oldest beyond 32 MiB, and counts a unit that several revisions share once', () => {
    const all = [revision(1, 'c1', 'a1', 'b1'), revision(2, 'c2', 'a1', 'b2'), revision(3, 'c3', 'a1', 'b3')];
    const sizes = { a1: 20 * MIB, b1: 8 * MIB, b2: 8 * MIB, b3: 4 * MIB };
    expect(kept(all, sizes)).toEqual(['c3', 'c2']);
  });

  it('S24 keeps the newest revision, however large it is', () => {
    expect(kept([revision(1, 'c1', 'a1'), revision(2, 'c2', 'a2')], { a2: 40 * MIB })).toEqual(['c2']);
  });
});

describe('missingRevisions', () => {
  it('S24 names what was proven here and is not kept', () => {
    const proven = [
      { digest: 'd2', commit: 'c2', provenAt: '2030-01-02T00:00:00Z' },
      { digest: 'd1', commit: 'c1', provenAt: '2030-01-01T00:00:00Z' },
      { digest: 'd0' },
    ];
    const cluster: Pick<Cluster, 'status'> = { status: { conditions: [], sync: { proven } } };
    expect(missingRevisions(cluster, [{ commit: 'c2', digest: 'd2', keptAt: '' }])).toEqual([
      { digest: 'd1', commit: 'c1', keptAt: '2030-01-01T00:00:00Z' },
    ]);
    expect(missingRevisions(undefined)).toEqual([]);
  });
});
