/** Reads and writes the ConfigMap with the record of a control plane. Pure. */
import { z } from 'zod';
import { textAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { HostingError } from '../../errors.ts';
import { KEEP_VOLUME, planeLabels, planeNamespace, RECORD } from './names.ts';
import { type WorkloadRecord, workloadRecord } from './record.ts';

const FILE = 'record.json';
/** It has what an earlier hosting may ignore and drop, beside the strict record, so that a former image of hosting still reads that. */
const NOTES_FILE = 'notes.json';
const FORMAT = 1;

const { snapshot, addresses, attempts, restored } = workloadRecord.shape;
const notes = z.object({
  snapshot: snapshot.catch(undefined),
  addresses: addresses.catch(undefined),
  attempts: attempts.catch(undefined),
  restored: restored.catch(undefined),
});
type Notes = Pick<WorkloadRecord, 'snapshot' | 'addresses' | 'attempts' | 'restored'>;

export function parseWorkloadRecord(object: KubeObject): WorkloadRecord {
  const content = parsed(textAt(object, 'data', FILE));
  const { data, error } = workloadRecord.safeParse(content);
  if (data) return { ...data, ...notesOf(object) };
  const where = `ConfigMap ${object.metadata.namespace ?? ''}/${RECORD}`;
  throw isLater(content, error) ? writtenLater(where) : damaged(where);
}

/** A note that is damaged is as if it were not there, and takes no other one with it. */
function notesOf(object: KubeObject): Notes {
  const { data } = notes.safeParse(parsed(textAt(object, 'data', NOTES_FILE)));
  return {
    ...optional('snapshot', data?.snapshot),
    ...optional('addresses', data?.addresses),
    ...optional('attempts', data?.attempts),
    ...optional('restored', data?.restored),
  };
}

/** A field that is not known is one of a later version, whatever else is not as expected. */
function isLater(content: unknown, error: z.ZodError): boolean {
  const { data } = z.object({ format: z.number() }).safeParse(content);
  return (data?.format ?? 0) > FORMAT || error.issues.some(({ code }) => code === 'unrecognized_keys');
}

function writtenLater(where: string): HostingError {
  return new HostingError('CorruptRecord', `${where} was written by a later version of hosting`, {
    where,
    hint: 'start hosting with the image of that version again; the control plane and its data are as they were',
  });
}

function damaged(where: string): HostingError {
  return new HostingError('CorruptRecord', `${where} is not a valid record of a control plane`, {
    where,
    hint: `restore it from a backup; or ${KEEP_VOLUME}, then delete the namespace with all its data and create the Cluster again`,
  });
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function recordObject(record: WorkloadRecord, resourceVersion?: string): KubeObject {
  const { snapshot: taken, addresses: given, attempts: made, restored: from, ...strict } = record;
  const noted = { snapshot: taken, addresses: given, attempts: made, restored: from };
  const { cluster } = record;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: RECORD,
      namespace: planeNamespace(cluster),
      labels: planeLabels(cluster),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    data: {
      [FILE]: JSON.stringify(strict),
      ...(Object.values(noted).some((each) => each !== undefined)
        ? { [NOTES_FILE]: JSON.stringify(noted) }
        : {}),
    },
  };
}
