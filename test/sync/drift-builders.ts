/** Corrections of drift. */
import type { DriftCorrection } from '../../src/sync/drift-history.ts';
import { later } from '../rollout/builders.ts';

export function correctionAt(seconds: number, object = 'ConfigMap default/a'): DriftCorrection {
  const at = later(seconds).toISOString();
  return { object, unit: 'web', change: 'Changed', foundAt: at, correctedAt: at, commit: 'c1' };
}
