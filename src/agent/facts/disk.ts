/** Derives facts about file systems: how full they are, and since when they fill up. Pure. */
import type { DiskFact } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { DiskUsage } from '../host/port.ts';
import { inodesUsedPercent, usedPercent } from './filesystems.ts';

/** Holds what the agent knows of one file system. */
export interface DiskTrend {
  readonly fact: DiskFact;
  /** The highest percentage since the used space last fell; `peakAt` is when it was reached. */
  readonly peakPercent: number;
  readonly peakAt: Date;
}

/** The time after which a file system that did not get fuller is not rising. */
const FLAT_MS = 10 * 60_000;

export function followDisk(
  before: DiskTrend | undefined,
  filesystem: string,
  usage: DiskUsage,
  now: Date,
): DiskTrend {
  const percent = usedPercent(usage);
  const measured = {
    filesystem,
    usedPercent: percent,
    ...optional('inodesUsedPercent', inodesUsedPercent(usage)),
  };
  const start = { fact: measured, peakPercent: percent, peakAt: now };
  if (!before || percent < before.peakPercent) return start;
  if (percent > before.peakPercent) {
    return { ...start, fact: { ...measured, risingSince: before.fact.risingSince ?? now.toISOString() } };
  }
  const isFlat = now.getTime() - before.peakAt.getTime() >= FLAT_MS;
  return {
    ...before,
    fact: { ...measured, ...optional('risingSince', isFlat ? undefined : before.fact.risingSince) },
  };
}
