/** Counts the faults that rules find on machines, once for each. */
import type { NodeRemedier } from '../../api/generated/types.ts';
import type { Metrics } from '../../kube/process/metrics.ts';
import { REMEDY_FAULTS } from '../../observability/metrics/repair.ts';
import type { RemedyFinding } from './findings.ts';

interface FoundByRule {
  readonly remedier: NodeRemedier;
  readonly finding: RemedyFinding;
}

export interface FaultMetrics {
  /** `before` are the findings of the last reconcile of the machine; undefined after a start, when the faults are not new. */
  found(evaluated: readonly FoundByRule[], before: ReadonlyMap<string, RemedyFinding> | undefined): void;
}

export function registerFaultMetrics(metrics: Metrics): FaultMetrics {
  const faults = metrics.counter(REMEDY_FAULTS);
  return {
    found: (evaluated, before) => {
      for (const { remedier, finding } of evaluated) {
        const { name } = remedier.metadata;
        const isNew = before !== undefined && isNewFault(finding, before.get(name));
        // 0 before the first fault of a rule: Prometheus does not count the first event of a series that appears with it.
        faults.add({ rule: name, fault: remedier.spec.faultClass }, isNew ? 1 : 0);
      }
    },
  };
}

/** A fault that was away for less than the rule's clearSeconds keeps its start: it is the same one. */
function isNewFault(finding: RemedyFinding, before: RemedyFinding | undefined): boolean {
  const isFaulty = finding.outcome === 'Match' || finding.outcome === 'Held';
  return isFaulty && finding.since?.getTime() !== before?.since?.getTime();
}
