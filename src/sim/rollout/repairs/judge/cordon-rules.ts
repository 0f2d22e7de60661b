/** Whose cordon each Node has: a person's is never removed, and ours always has its mark until a person is asked. */
import type { RemedyOperationJob } from '../../../../api/generated/types.ts';
import { ANNOTATION_CORDONED_BY } from '../../../../api/names.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import type { ApiChange } from '../../../api-server/objects.ts';
import { isUnschedulable } from '../unschedulable.ts';

type JobOf = (grant: string) => RemedyOperationJob | undefined;

export interface NodeWriter {
  readonly isPerson: boolean;
  readonly jobOf: JobOf;
}

export interface CordonRules {
  written(change: ApiChange, by: NodeWriter): readonly string[];
  isOfPerson(node: KubeObject): boolean;
  /** The job that has cordoned the Node with this write. */
  cordonedFor(change: ApiChange, jobOf: JobOf): RemedyOperationJob | undefined;
}

export function createCordonRules(nowMs: () => number): CordonRules {
  /** By UID of the Node. */
  const ofPerson = new Set<string>();
  return {
    written: (change, writer) => {
      const { after } = change;
      if (!after) return [];
      return isUnschedulable(after)
        ? cordonedViolations(change, after, writer)
        : uncordonedViolations(after, writer);
    },
    isOfPerson: ({ metadata }) => ofPerson.has(metadata.uid ?? ''),
    cordonedFor: ({ before, after }, jobOf) => {
      const isCordoned = isUnschedulable(after) && !isUnschedulable(before);
      return isCordoned ? jobOf(markOf(after) ?? '') : undefined;
    },
  };

  function uncordonedViolations({ metadata }: KubeObject, { isPerson }: NodeWriter): readonly string[] {
    const isTaken = ofPerson.delete(metadata.uid ?? '') && !isPerson;
    return isTaken ? ['the cordon of a person was removed'] : [];
  }

  function cordonedViolations(
    { before }: ApiChange,
    after: KubeObject,
    { isPerson, jobOf }: NodeWriter,
  ): readonly string[] {
    const { uid = '' } = after.metadata;
    if (markOf(after) !== undefined || ofPerson.has(uid)) return [];
    ofPerson.add(uid);
    if (isPerson) return [];
    const had = markOf(before);
    return had !== undefined && isHandedOver(jobOf(had), nowMs()) ? [] : ['a cordon without its mark'];
  }
}

function markOf(node: KubeObject | undefined): string | undefined {
  return node?.metadata.annotations?.[ANNOTATION_CORDONED_BY];
}

/** By the last rung of a ladder, or at the end of the time for which it was kept. */
function isHandedOver(job: RemedyOperationJob | undefined, nowMs: number): boolean {
  if (!job?.status) return false;
  const { outcome, timeline } = job.status;
  if (outcome?.class === 'HandedOff') return true;
  return nowMs >= Date.parse(timeline?.settledAt ?? '') + job.spec.settle.holdSeconds * 1000;
}
