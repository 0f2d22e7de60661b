import { describe, expect, it } from 'vitest';
import type { Machine, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { AffectedQuery } from '../../../src/rules/facts/reading/affected.ts';
import { type AffectedMachines, createAffectedMachines } from '../../../src/rules/live/affected-machines.ts';
import { followMachineObjects } from '../../../src/rules/live/machine-objects.ts';
import { createFactViews, type FactViewName, mapFactViews } from '../../../src/rules/views.ts';
import { component, type MachineParts, machine, NOW, node } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { remedyJob } from '../../support/remediers.ts';

const POINT = { ms: 0, at: NOW };

interface Bed {
  readonly affected: AffectedMachines;
  machine(name: string, parts?: MachineParts): void;
  kernel(name: string, kernelVersion: string): void;
  job(job: RemedyOperationJob): void;
  remove(view: FactViewName, name: string): void;
  /** Affected and total, for each value. */
  of(name: string, scope: AffectedQuery['scope']): string | undefined;
}

function freshness() {
  return { synced: true, ageMs: 0, lastContactAt: undefined, error: undefined };
}

function entry(name: string, version: string) {
  return { ...component(name, version), state: 'Present', parameters: {} } as const;
}

function open(): Bed {
  const stores = mapFactViews(() => createStore({ log: memoryLog() }));
  for (const store of Object.values(stores)) store.replace([], '1');
  let version = 1;
  const views = createFactViews((_, view) => ({ store: stores[view], reflector: { freshness } }));
  const objects = followMachineObjects(views, () => undefined);
  const affected = createAffectedMachines(views, objects.of);
  const next = <T extends KubeObject>(object: T): T => {
    version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  };
  return {
    affected,
    machine: (name, parts) => {
      stores.machines.put(next(machine(name, parts)));
    },
    kernel: (name, kernelVersion) => {
      const its: KubeObject = { ...node(name), status: { nodeInfo: { kernelVersion } } };
      stores.nodes.put(next(its));
    },
    job: (job) => {
      stores.jobs.put(next(job));
    },
    remove: (view, name) => {
      const present = stores[view].get(name);
      if (present) stores[view].remove(next(present));
    },
    of: (name, scope) => {
      const found = affected.count(name, { scope, faultClass: 'Kernel', windowSeconds: 7200 }, POINT);
      return found.length === 0
        ? undefined
        : found.map(({ affected: its, total }) => `${its} of ${total}`).join();
    },
  };
}

const WAIT = { rule: 'r', faultClass: 'Kernel', reason: 'Denied', since: '2026-01-01T00:00:00Z' } as const;
const uidOf = (name: string): Pick<Machine, 'metadata'> => ({ metadata: { name, uid: `uid-${name}` } });

describe('createAffectedMachines', () => {
  it('R21 follows a machine to another version, and forgets one that is deleted', () => {
    const bed = open();
    for (const name of ['a', 'b', 'c']) {
      bed.machine(name, name === 'a' ? { status: { remedyWaits: [WAIT] } } : {});
      bed.kernel(name, '6.1');
    }
    expect(bed.of('b', 'kernelVersion')).toBe('1 of 3');
    bed.kernel('a', '6.9');
    expect([bed.of('a', 'kernelVersion'), bed.of('b', 'kernelVersion')]).toEqual(['1 of 1', '0 of 2']);
    bed.machine('a');
    expect(bed.of('a', 'kernelVersion')).toBe('0 of 1');
    bed.remove('machines', 'c');
    expect([bed.of('b', 'kernelVersion'), bed.of('c', 'kernelVersion')]).toEqual(['0 of 1', undefined]);
    expect(bed.of('b', 'cluster')).toBe('0 of 2');
    bed.remove('nodes', 'b');
    expect([bed.of('b', 'kernelVersion'), bed.of('b', 'cluster')]).toEqual([undefined, '0 of 2']);
  });

  it('R21 counts a job whichever comes first, the machine or the job, until it is deleted', () => {
    const bed = open();
    const job = remedyJob({ machine: 'a', begun: 60 });
    bed.job(job);
    bed.machine('a', uidOf('a'));
    bed.machine('b', uidOf('b'));
    bed.job(remedyJob({ machine: 'b', begun: 60 }));
    bed.machine('c', uidOf('c'));
    expect(bed.of('c', 'cluster')).toBe('2 of 3');
    bed.remove('jobs', job.metadata.name);
    expect(bed.of('c', 'cluster')).toBe('1 of 3');
  });

  it('R21 counts for each of the several component versions that a machine has', () => {
    const bed = open();
    const cni = entry('cni', '1.0');
    bed.machine('a', {
      spec: { components: [entry('kubelet', '1.34.2'), cni] },
      status: { remedyWaits: [WAIT] },
    });
    bed.machine('b', { spec: { components: [entry('kubelet', '1.34.1'), cni] } });
    bed.machine('c', { spec: { components: [cni] } });
    expect(bed.of('a', 'componentVersion')).toBe('1 of 1,1 of 3');
    expect(bed.of('b', 'componentVersion')).toBe('0 of 1,1 of 3');
  });
});
