/** Signs that another tool maintains a node. Pure. */
import type { ForeignMaintenance } from '../../api/generated/types.ts';
import type { MachineFacts } from './facts.ts';
import { leaseNameFor } from './signs/lease-names.ts';

/** The first sign that the machine shows: `taint karpenter.sh/disrupted`. */
export function foreignOwner(
  machine: MachineFacts,
  signs: readonly ForeignMaintenance[],
): string | undefined {
  for (const sign of signs) {
    const shown = shownSign(machine, sign);
    if (shown !== undefined) return shown;
  }
  return undefined;
}

function shownSign(machine: MachineFacts, { lease, taint, label }: ForeignMaintenance): string | undefined {
  const { name, taints, labels, foreignLeases = [] } = machine;
  if (taint !== undefined) return taints.includes(taint) ? `taint ${taint}` : undefined;
  if (label !== undefined) return Object.hasOwn(labels, label) ? `label ${label}` : undefined;
  if (lease === undefined) return undefined;
  const leaseName = leaseNameFor(lease, name);
  return foreignLeases.includes(leaseName) ? `lease ${leaseName}` : undefined;
}
