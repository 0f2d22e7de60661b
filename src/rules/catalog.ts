/** The facts that rules can use, and those reserved for later versions. */
import { FACTS } from '../api/facts.ts';
import { componentFact } from './facts/component.ts';
import { conditionFact } from './facts/condition.ts';
import { diagnosisFact } from './facts/diagnosis.ts';
import { diskFact } from './facts/disk.ts';
import { eventFact } from './facts/event.ts';
import type { FactKind } from './facts/fact.ts';
import { fleetFact } from './facts/fleet.ts';
import { historyFact } from './facts/history.ts';
import { maintenanceFact } from './facts/maintenance.ts';
import { metricFact } from './facts/metric.ts';
import { nodeFact } from './facts/node.ts';
import { probeFact } from './facts/probe.ts';
import { workloadFact } from './facts/workload.ts';
import { xidFact } from './facts/xid.ts';
import { formatValue, type ReportProblem, suggestName } from './problems.ts';

const KINDS: readonly FactKind[] = [
  conditionFact,
  eventFact,
  nodeFact,
  componentFact,
  diskFact,
  probeFact,
  historyFact,
  diagnosisFact,
  maintenanceFact,
  xidFact,
  fleetFact,
  workloadFact,
  metricFact,
];

export const FACT_KINDS: ReadonlyMap<string, FactKind> = new Map(KINDS.map((kind) => [kind.name, kind]));

const FACT_NAMES: readonly string[] = [...FACT_KINDS.keys()];
const RESERVED_NAMES: readonly string[] = FACTS.filter((name) => !FACT_KINDS.has(name));

/** The kind of that name. Reports unknown names, and names that the API reserves for later versions. */
export function findFactKind(report: ReportProblem, path: string, name: unknown): FactKind | undefined {
  if (typeof name !== 'string') {
    return report(path, `must be the name of a fact: one of ${FACT_NAMES.join(', ')}`);
  }
  const known = FACT_KINDS.get(name);
  if (known) return known;
  if (RESERVED_NAMES.includes(name)) {
    return report(path, `fact ${name} is not available in this version: use one of ${FACT_NAMES.join(', ')}`);
  }
  return report(
    path,
    `unknown fact ${formatValue(name)}: use one of ${FACT_NAMES.join(', ')}${suggestName(name, FACT_NAMES)}`,
  );
}
