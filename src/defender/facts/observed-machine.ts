/** The facts of one machine, from its Machine, its Node and the Pods on it. What was not observed is absent. Pure. */

import { dimensionsOf, machinePlace } from '../../api/diagnosis/dimensions.ts';
import { powerSign } from '../../api/diagnosis/evidence.ts';
import { RISKS } from '../../api/enums.ts';
import type { Machine } from '../../api/generated/types.ts';
import { isOutOfUse } from '../../api/machine/kept.ts';
import {
  isCordoned,
  isEstablished,
  LABEL_CONTROL_PLANE,
  parseTime,
  readinessOf,
  taintKeys,
} from '../../api/machine/node-state.ts';
import { LABEL_EXCLUDE } from '../../api/names.ts';
import type { WaitReason } from '../../api/status/rule-waits.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Labels } from '../../kube/objects/selector.ts';
import { holdsOf } from '../../rollout/holds.ts';
import type { MachineFacts, RepairFact } from './facts.ts';
import type { Faults } from './fault-since.ts';
import type { NodeSigns } from './signs/signs.ts';

export interface ObservedMachine {
  readonly machine: Machine;
  /** The Node of the same name. Undefined: there is none. */
  readonly node: KubeObject | undefined;
  /** Undefined: Pods were not observed. */
  readonly blockingPods: Labels | undefined;
  /** The Leases and Pods that policies name. Undefined: they are not observed in this process. */
  readonly signs?: NodeSigns | undefined;
  /** When the readiness became Unknown, by our own clock. */
  readonly unknownSince: Date | undefined;
  /** Undefined: no condition of the Node shows a fault. */
  readonly faults: Faults | undefined;
}

const INDETERMINATE: WaitReason = 'Indeterminate';

export function observedFacts(observed: ObservedMachine): MachineFacts {
  const { machine, node, unknownSince, faults } = observed;
  const { metadata } = machine;
  const place = machinePlace(machine, node);
  const { zone, pool, labels } = place;
  const readiness = readinessOf(node);
  return {
    name: metadata.name,
    labels,
    ...optional('zone', zone),
    ...optional('pool', pool),
    ...optional('nodeUID', node?.metadata.uid),
    ...optional('nodeCreatedAt', parseTime(node?.metadata.creationTimestamp)),
    readiness,
    ...(readiness === 'Unknown' ? optional('unknownSince', unknownSince) : {}),
    ...vantageOf(machine),
    // Only its instance is kept: it serves nothing, and its place has another machine.
    established: isEstablished(machine, node) && !isOutOfUse(machine, node),
    cordoned: isCordoned(node),
    taints: taintKeys(node),
    ...signFacts(observed),
    holds: holdsOf(machine, node),
    excluded: labels[LABEL_EXCLUDE] !== undefined,
    paused: false,
    repairs: repairsOf(machine),
    isControlPlane: labels[LABEL_CONTROL_PLANE] !== undefined,
    dimensions: dimensionsOf(place, machine, node),
    ...optional('faults', faults),
    ...optional('unknownFacts', unknownFactsOf(machine, node)),
  };
}

/** Returns what rules do not know, as the remedy controller records it. A new Node begins again. */
function unknownFactsOf({ status }: Machine, node: KubeObject | undefined): MachineFacts['unknownFacts'] {
  const created = parseTime(node?.metadata.creationTimestamp);
  const found = (status?.remedyWaits ?? []).flatMap(({ rule, reason, since, message = '' }) => {
    const began = reason === INDETERMINATE ? parseTime(since) : undefined;
    if (!began) return [];
    return [{ rule, since: created && created > began ? created : began, message }];
  });
  return found.length > 0 ? found : undefined;
}

/** Returns what other tools and Pods show on the machine. */
export function signFacts({
  blockingPods,
  signs,
}: Pick<ObservedMachine, 'blockingPods' | 'signs'>): Pick<
  MachineFacts,
  'blockingPods' | 'foreignLeases' | 'unobserved'
> {
  return {
    ...optional('blockingPods', blockingPods && { ...blockingPods, ...signs?.pods }),
    ...optional('foreignLeases', signs?.leases),
    ...optional('unobserved', signs && signs.unobserved.length > 0 ? signs.unobserved : undefined),
  };
}

/** Returns what the agent and the provider tell about the machine, and who probes it. */
function vantageOf(machine: Machine): Pick<MachineFacts, 'agentReports' | 'power' | 'silence' | 'peers'> {
  const reports = conditionStatus(machine.status?.conditions, 'AgentReady') === 'True';
  const power = powerSign(machine);
  return {
    ...(reports ? { agentReports: true } : {}),
    ...optional('power', power === 'Unknown' ? undefined : power),
    ...optional('silence', machine.status?.silence),
    ...optional('peers', machine.status?.peers),
  };
}

function repairsOf({ status }: Machine): readonly RepairFact[] {
  const recent = status?.repairs?.recent ?? [];
  return recent
    .flatMap(({ at, job, changed = true, risk = 'None' }): readonly RepairFact[] => {
      const time = parseTime(at);
      if (!time || risk === 'None') return [];
      // The record has no steps: a repair of this risk may have rebooted.
      const rebooted = changed && RISKS.indexOf(risk) >= RISKS.indexOf('Node');
      return [{ at: time, rebooted, ...optional('unchangedBy', changed ? undefined : job) }];
    })
    .toSorted((a, b) => +b.at - +a.at);
}
