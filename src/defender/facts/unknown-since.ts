/** Since when Nodes are Unknown: by our own clock, but for those that were so before we began to observe. */
import { readinessOf, readyTransition } from '../../api/machine/node-state.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';

export interface UnknownSince {
  /** `first`: the initial list is not complete. Undefined for a Node that is not Unknown. */
  observe(name: string, node: KubeObject | undefined, first: boolean): Date | undefined;
  forget(name: string): void;
}

export function createUnknownSince(clock: Pick<Clock, 'now'>): UnknownSince {
  const since = new Map<string, Date>();
  return {
    observe: (name, node, first) => {
      if (readinessOf(node) !== 'Unknown') {
        since.delete(name);
        return undefined;
      }
      const began = since.get(name) ?? startOf(node, first);
      since.set(name, began);
      return began;
    },
    forget: (name) => void since.delete(name),
  };

  function startOf(node: KubeObject | undefined, first: boolean): Date {
    const now = clock.now();
    const recorded = first ? readyTransition(node) : undefined;
    return recorded && recorded < now ? recorded : now;
  }
}
