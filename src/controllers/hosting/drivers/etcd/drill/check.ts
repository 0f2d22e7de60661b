/** Defines what the API server of a drill runs with, what a drill has found in a backup, and how a pod reports it. */
import { z } from 'zod';
import { parseRecord } from '../../../../../kube/objects/json.ts';

/**
 * Flags that the API server of a drill has beside those of the control plane. It compacts etcd ten minutes after its start otherwise, and objects
 * as they were when the backup was taken could not be read any more.
 */
export const DRILL_FLAGS = { 'etcd-compaction-interval': '0s' } as const;

/** It is not strict: a later version of hosting may add to it. */
export const drillCheck = z.object({
  /** The backup that was restored. */
  backup: z.string(),
  /** The UID of the namespace kube-system, by which clusters are distinguished. Absent: the backup does not have it yet. */
  clusterUid: z.string().optional(),
  /** The objects that the API server read, and of how many resources they are. */
  objects: z.int(),
  resources: z.int(),
  namespaces: z.int(),
  /** The objects of our own kinds. */
  ours: z.int(),
});
export type DrillCheck = Readonly<z.infer<typeof drillCheck>>;

/** Undefined: the text is not a report. */
export function parseDrillCheck(text: string | undefined): DrillCheck | undefined {
  return text === undefined ? undefined : drillCheck.safeParse(parseRecord(text)).data;
}

/** Returns the words of conditions and Events. */
export function drillText({ backup, objects, resources, namespaces, ours }: DrillCheck): string {
  return `an API server read all ${objects} objects of ${resources} resources from ${backup}, among them ${namespaces} namespaces and ${ours} objects of kubenode.dev`;
}
