import { describe, expect, it } from 'vitest';
import type { Orphan } from '../../../src/controllers/orphansweep/plan.ts';
import { type OrphanReports, reportOrphans } from '../../../src/controllers/orphansweep/status.ts';
import type { ReconcileContext } from '../../../src/kube/controller/reconcile-context.ts';
import { NOW } from '../../support/builders.ts';

function orphan(number: number, wait: NonNullable<Orphan['wait']> = 'GrantDenied'): Orphan {
  const instance = {
    id: `aws:///zone/i-${number}`,
    machine: `m-${number}`,
    tags: { clusterUid: 'c', machineUid: `u-${number}` },
    state: 'Running',
    addresses: [],
    createdAt: NOW,
  } as const;
  return { instance, wait, because: 'outage' };
}

/** Reports these orphans and returns the notes of new Events. */
function createReporter(): {
  readonly report: (...orphans: readonly Orphan[]) => readonly string[];
  readonly noteOf: (orphan: Orphan) => string | undefined;
  readonly left: Map<string, number>;
} {
  const notes: string[] = [];
  const left = new Map<string, number>();
  const reports = {
    reported: new Map<string, string>(),
    listFailures: new Map<string, string>(),
    left: {
      set: (labels: Readonly<Record<string, string>>, value: number) =>
        void left.set(`${labels['provider']} ${labels['reason']}`, value),
    },
  } as unknown as OrphanReports;
  const context = {
    clock: { now: () => NOW },
    view: () => ({ get: () => undefined }),
    event: (_: unknown, { note }: { readonly note: string }) => void notes.push(note),
  } as unknown as ReconcileContext;
  return {
    left,
    noteOf: (found) => {
      reportOrphans('aws', [found], { reports, context });
      return notes.splice(0)[0];
    },
    report: (...orphans) => {
      reportOrphans('aws', orphans, { reports, context });
      return notes.splice(0).map((note) => note.split(' ')[1] ?? '');
    },
  };
}

describe('reportOrphans', () => {
  it('MAC-36 reports a state of an orphan once, and each new one', () => {
    const { report } = createReporter();
    expect(report(orphan(1, 'ListedOnce'))).toEqual(['aws:///zone/i-1']);
    expect(report(orphan(1, 'ListedOnce'))).toEqual([]);
    expect(report(orphan(1, 'GrantDenied'), orphan(2))).toEqual(['aws:///zone/i-1', 'aws:///zone/i-2']);
  });

  it('MAC-36 reports a state again when its reason is another one', () => {
    const { report } = createReporter();
    const denied = { ...orphan(1), reason: 'KillSwitch' };
    expect(report(denied)).toHaveLength(1);
    expect(report(denied)).toEqual([]);
    expect(report({ ...denied, reason: 'APIErrors' })).toHaveLength(1);
  });

  it('MAC-36 reports an orphan again that had a Machine in between', () => {
    const { report } = createReporter();
    report(orphan(1));
    expect(report()).toEqual([]);
    expect(report(orphan(1))).toEqual(['aws:///zone/i-1']);
  });

  it('MAC-36 reports an age of 0 h for an instance that the clock of the provider created later', () => {
    const { noteOf } = createReporter();
    const { instance, ...rest } = orphan(1);
    const later = { ...instance, createdAt: new Date(NOW.getTime() + 60_000) };
    expect(noteOf({ ...rest, instance: later })).toContain(', 0 h ago: outage');
  });

  it('MAC-36 sends at most twenty Events for one sweep, and those of others later', () => {
    const { report } = createReporter();
    const orphans = Array.from({ length: 25 }, (_, index) => orphan(index));
    expect(report(...orphans)).toHaveLength(20);
    expect(report(...orphans)).toHaveLength(5);
    expect(report(...orphans)).toEqual([]);
  });

  it('MAC-36 counts the orphans that are left by provider and reason, and those that ended as zero', () => {
    const { report, left } = createReporter();
    const { wait: _, ...deleted } = orphan(3);
    report(orphan(1), orphan(2), deleted);
    expect([left.get('aws GrantDenied'), left.get('aws Deleting')]).toEqual([2, 0]);
    report(orphan(1));
    expect(left.get('aws GrantDenied')).toBe(1);
  });
});
