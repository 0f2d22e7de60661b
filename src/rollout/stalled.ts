/** Tells people that an object waits for them: an Event when it becomes Stalled, and a metric of all that are. */
import type { Condition } from '../api/generated/types.ts';
import type { Store } from '../kube/cache/store.ts';
import type { ReconcileContext } from '../kube/controller/reconcile-context.ts';
import { conditionOf } from '../kube/objects/conditions.ts';
import type { KubeObject } from '../kube/objects/object.ts';
import type { GaugeSample, Metrics } from '../kube/process/metrics.ts';
import { STALLED_OBJECTS } from '../observability/metrics/rollout.ts';

interface WithConditions {
  readonly conditions?: readonly Condition[];
}

type MayStall = KubeObject & { readonly status?: WithConditions };

/** Before the status is written. `prefix` is that of the Events of the controller. Nothing while the reason stays the same. */
export function tellStalled(
  object: MayStall,
  status: WithConditions,
  prefix: string,
  context: Pick<ReconcileContext, 'event'>,
): void {
  const found = conditionOf(status.conditions, 'Stalled');
  if (found?.status !== 'True' || stalledReason(object) === found.reason) return;
  const note = `${found.reason}: ${found.message}`;
  context.event(object, { type: 'Warning', reason: `${prefix}Stalled`, action: 'Wait', note });
}

function stalledReason({ status }: MayStall): string | undefined {
  const condition = conditionOf(status?.conditions, 'Stalled');
  return condition?.status === 'True' ? condition.reason : undefined;
}

/** Read from the views when the metrics are. */
export function registerStalledObjects(
  metrics: Metrics,
  views: Readonly<Record<string, { readonly store: Pick<Store, 'list'> }>>,
  kinds: readonly string[],
): void {
  metrics.gauge({
    ...STALLED_OBJECTS,
    read: () => kinds.flatMap((kind) => samplesOf(kind, views[kind]?.store.list() ?? [])),
  });
}

function samplesOf(kind: string, objects: readonly MayStall[]): readonly GaugeSample<'kind' | 'reason'>[] {
  const counts = new Map<string, number>();
  for (const object of objects) {
    const reason = stalledReason(object);
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => [{ kind, reason }, count]);
}
