/** Whose cordon each Node has: a person's is never removed, and ours always has its mark until a person is asked. */
import type { RemedyOperationJob } from '../../../../api/generated/types.ts';
import { ANNOTATION_CORDONED_BY } from '../../../../api/names.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import type { ApiChange } from '../../api-server.ts';
import { isUnschedulable } from '../misfortune.ts';

type JobOf = (grant: string) => RemedyOperationJob | undefined;

export interface CordonRules {
  written(
    change: ApiChange,
    by: { readonly isPerson: boolean; readonly jobOf: JobOf },
  ): readonly string[];
  isOfPerson(node: KubeObject): boolean;
  /** The job that has cordoned the Node with this write. */
  cordonedFor(before: KubeObject | undefined, after: KubeObject, jobOf: JobOf): RemedyOperationJob | undefined;
}

export function createCordonRules(nowMs: () => number): CordonRules {
  /** By UID of the Node. */
  const ofPerson = new Set<string>();
  return {
    written,
    isOfPerson: ({ metadata }) => ofPerson.has(metadata.uid ?? ''),
    cordonedFor: (before, after, jobOf) => {
      const isCordoned = isUnschedulable(after) && !isUnschedulable(before);
      return isCordoned ? jobOf(markOf(after) ?? '') : undefined;
    },
  };

  function written(
    { before, after }: ApiChange,
    { isPerson, jobOf }: { readonly isPerson: boolean; readonly jobOf: JobOf },
  ): readonly string[] {
    if (!after) return [];
    const { uid = '' } = after.metadata;
    if (!isUnschedulable(after)) {
      const isTaken = ofPerson.delete(uid) && !isPerson;
      return isTaken ? ['the cordon of a person was removed'] : [];
    }
    if (isPerson) {
      ofPerson.add(uid);
      return [];
    }
    const [had, has] = [markOf(before), markOf(after)];
    if (has !== undefined || ofPerson.has(uid)) return [];
    if (!isUnschedulable(before)) return ['a cordon without a mark'];
    if (had === undefined) return [];
    ofPerson.add(uid);
    return isHandedOver(jobOf(had), nowMs()) ? [] : ['a cordon of ours was left without its mark'];
  }
}

function markOf(node: KubeObject | undefined): string | undefined {
  return node?.metadata.annotations?.[ANNOTATION_CORDONED_BY];
}

/** By the last rung of a ladder, or at the end of the time for which it was kept. */
function isHandedOver(job: RemedyOperationJob | undefined, nowMs: number): boolean {
  const { outcome, timeline } = job?.status ?? {};
  if (outcome?.class === 'HandedOff') return true;
  const keptMs = Date.parse(timeline?.settledAt ?? '') + (job?.spec.settle.holdSeconds ?? 0) * 1000;
  return nowMs >= keptMs;
}
