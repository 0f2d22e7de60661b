/** Finds in what a control plane differs from its spec. Pure. */
import { canonicalJson } from '../../../../kube/objects/digest.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { PlaneSpec, SettledPlane } from '../driver.ts';
import { settledDifferences } from '../runs.ts';
import type { WorkloadRecord } from './record.ts';

export function settledOf({
  version,
  etcdVersion,
  settings,
  placement: { requests },
  controllers,
}: WorkloadRecord): SettledPlane {
  return { version, etcdVersion, settings, requests, ...optional('controllers', controllers) };
}

export function recordDifferences(record: WorkloadRecord, plane: PlaneSpec): readonly string[] {
  return settledDifferences(settledOf(record), plane);
}

/** Returns the record with the lifetime of certificates that the spec wants: it takes effect with the next renewal. */
export function withLife(record: WorkloadRecord, { settings }: PlaneSpec): WorkloadRecord {
  const { leafLifetimeSeconds, renewAtPercent } = settings;
  return { ...record, settings: { ...record.settings, leafLifetimeSeconds, renewAtPercent } };
}

/** Returns the differences that no change removes: the volume has its size, and clients the address. */
export function placementDifferences(
  { placement: before }: WorkloadRecord,
  { placement }: PlaneSpec,
): readonly string[] {
  if (!placement) return [];
  return (['storageGiB', 'exposure'] as const).flatMap((name) => {
    const [is, should] = [before[name], placement[name]].map(canonicalJson);
    return is === should ? [] : [`${name} is ${is}, not ${should}`];
  });
}
