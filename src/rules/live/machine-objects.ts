/** Follows the views whose objects are each about one machine: keeps the objects of each, and reports which facts changed. */
import { storeKey } from '../../kube/cache/store.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { MachineObjects } from '../facts/reading/snapshot.ts';
import { FACT_VIEWS, type FactViews, MACHINE_VIEWS, type MachineView, type ViewObject } from '../views.ts';
import { topicsChanged } from './fact-changes.ts';

type Emit = (machine: string, topics: readonly string[]) => void;

export interface FollowedObjects {
  readonly of: (machine: string) => MachineObjects;
  readonly close: () => void;
}

export function followMachineObjects(views: Pick<FactViews, MachineView>, emit: Emit): FollowedObjects {
  const followed = MACHINE_VIEWS.map((name) => followView(name, views[name], emit));
  return {
    of: (machine) => {
      const objects: Partial<Record<MachineView, readonly KubeObject[]>> = {};
      for (const { name, byMachine } of followed) objects[name] = byMachine.get(machine) ?? NONE;
      // The view of a kind holds objects of its type.
      return objects as unknown as MachineObjects;
    },
    close: () => {
      for (const { close } of followed) close();
    },
  };
}

const NONE: readonly never[] = [];

interface FollowedView {
  readonly name: MachineView;
  /** The lists are never changed in place: a snapshot keeps one without a copy. */
  readonly byMachine: ReadonlyMap<string, readonly KubeObject[]>;
  readonly close: () => void;
}

function followView<V extends MachineView>(name: V, { store }: FactViews[V], emit: Emit): FollowedView {
  const { machineOf } = FACT_VIEWS[name];
  const byMachine = new Map<string, readonly KubeObject[]>();
  const put = (object: ViewObject<V>, before?: ViewObject<V>): void => {
    const machine = machineOf?.(object) ?? '';
    byMachine.set(machine, withObject(byMachine.get(machine) ?? NONE, object));
    emit(machine, topicsChanged(name, before, object));
  };
  const close = store.subscribe({
    added: (object) => put(object),
    updated: put,
    removed: (object) => {
      const machine = machineOf?.(object) ?? '';
      const left = byMachine.get(machine)?.filter((each) => !isSame(each, object));
      if (left && left.length > 0) byMachine.set(machine, left);
      else byMachine.delete(machine);
      emit(machine, topicsChanged(name, object, undefined));
    },
  });
  return { name, byMachine, close };
}

function withObject(present: readonly KubeObject[], object: KubeObject): readonly KubeObject[] {
  return present.some((each) => isSame(each, object))
    ? present.map((each) => (isSame(each, object) ? object : each))
    : [...present, object];
}

function isSame(a: KubeObject, b: KubeObject): boolean {
  return storeKey(a.metadata) === storeKey(b.metadata);
}
