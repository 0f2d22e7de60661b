/** The conditions of Nodes that show a fault, and since when: by our own clock, but for those that were so before we began to observe. */
import { isFaultStatus } from '../../api/machine/node-state.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';

/** By type of the condition. */
export type Faults = ReadonlyMap<string, Date>;

export interface FaultsSince {
  /** `first`: the initial list is not complete. Undefined: no condition of the Node shows a fault. */
  observe(name: string, node: KubeObject | undefined, first: boolean): Faults | undefined;
  forget(name: string): void;
}

export function createFaultsSince(clock: Pick<Clock, 'now'>): FaultsSince {
  const since = new Map<string, Faults>();
  return {
    observe: (name, node, first) => {
      const conditions = listAt(node, 'status', 'conditions').filter((each) =>
        isFaultStatus(typeOf(each), textAt(each, 'status')),
      );
      if (conditions.length === 0) {
        since.delete(name);
        return undefined;
      }
      const before = since.get(name);
      const faults = conditions.map((condition): [string, Date] => {
        const type = typeOf(condition);
        return [type, before?.get(type) ?? startOf(condition, first)];
      });
      const found = new Map(faults);
      since.set(name, found);
      return found;
    },
    forget: (name) => void since.delete(name),
  };

  function startOf(condition: unknown, first: boolean): Date {
    const now = clock.now();
    const recorded = first ? Date.parse(textAt(condition, 'lastTransitionTime') ?? '') : Number.NaN;
    return recorded < +now ? new Date(recorded) : now;
  }
}

function typeOf(condition: unknown): string {
  return textAt(condition, 'type') ?? '';
}
