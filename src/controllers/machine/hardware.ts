/**
 * Decides the label that identifies the hardware of a machine. Jobs carry it, so that repairs are still counted when the host gets another
 * name or another Machine. Pure.
 */
import type { Machine } from '../../api/generated/types.ts';
import { LABEL_HARDWARE } from '../../api/names.ts';
import type { JsonPatchOperation } from '../../kube/controller/writes/declared-fields.ts';
import { pointerTo } from '../../kube/controller/writes/json-patch.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { isPooled } from './instance/pooled.ts';

/** UUIDs that firmware ships where the vendor has set none: many hosts have the same. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '03000200-0400-0500-0006-000700080009',
  '12345678-1234-5678-90ab-cddeefaabbcc',
]);
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** 64 bits: two of a million hosts share a value in one of 37 million fleets. */
const LENGTH = 16;

/**
 * Returns the patch that sets the label. A value that is there stays, also where a person has set it: it would otherwise change when more is
 * known of the host, and earlier repairs would not be counted.
 */
export function planHardwareLabel(machine: Machine): readonly JsonPatchOperation[] {
  const { labels, deletionTimestamp } = machine.metadata;
  if (deletionTimestamp !== undefined || labels?.[LABEL_HARDWARE] !== undefined) return [];
  const id = hardwareId(machine);
  if (id === undefined) return [];
  const value = digestOf(id).replace('sha256:', '').slice(0, LENGTH);
  if (labels) return [{ op: 'add', path: pointerTo('metadata', 'labels', LABEL_HARDWARE), value }];
  return [{ op: 'add', path: pointerTo('metadata', 'labels'), value: { [LABEL_HARDWARE]: value } }];
}

/** Returns what identifies the hardware: its system UUID, or the id at its provider. Undefined: not known yet, or not at all. */
function hardwareId(machine: Machine): string | undefined {
  const uuid = systemUuid(machine);
  const providerId = machine.status?.infra?.providerID;
  if (uuid !== undefined) return `uuid ${uuid}`;
  return providerId === undefined || mayReportUuid(machine) ? undefined : `provider ${providerId}`;
}

function systemUuid({ spec, status }: Machine): string | undefined {
  return usableUuid(spec.bmc?.systemUUID) ?? usableUuid(status?.import?.systemUUID);
}

/** Tells whether the preflight of a host that is imported has not ended. */
function mayReportUuid(machine: Machine): boolean {
  const isImported = machine.spec.import !== undefined || isPooled(machine);
  return isImported && machine.status?.preflight === undefined;
}

function usableUuid(text: string | undefined): string | undefined {
  const uuid = text?.trim().toLowerCase() ?? '';
  return UUID.test(uuid) && !PLACEHOLDERS.has(uuid) ? uuid : undefined;
}
