/** R23: alerts, other tools and Pods that must not be disturbed. */
import type { DenialCause } from '../../api/grants.ts';
import type { MachineFacts } from '../facts/facts.ts';
import { foreignOwner } from '../facts/foreign.ts';
import { MAX_SELECTIONS } from '../facts/signs/named-signs.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import type { GuardInput, PolicyGuard } from './guard.ts';

export const alerts: PolicyGuard = {
  id: 'alerts',
  reasons: ['BlockedByAlert', 'AlertUnreadable'],
  proof: { promise: 'an act while alerting', seed: 1 },
  skippedByRecovery: true,
  checkedAtRenewal: true,
  checkPolicy: checkAlerts,
};

export const foreignOwners: PolicyGuard = {
  id: 'foreign-owner',
  reasons: ['ForeignOwner', 'FactUnknown'],
  proof: { promise: 'an act on a machine of another tool', seed: 1 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  checkPolicy: checkForeign,
};

export const blockingPods: PolicyGuard = {
  id: 'blocking-pods',
  reasons: ['BlockedByPod', 'FactUnknown'],
  proof: { promise: 'an act under a blocking Pod', seed: 1 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  checkPolicy: checkPods,
};

function checkAlerts(
  { ask, facts }: GuardInput,
  { name: policy, spec }: PreparedPolicy,
): readonly DenialCause[] {
  if (ask.risk === 'None') return [];
  return spec.blockers.promql.flatMap(({ name, query }): readonly DenialCause[] => {
    const { state, message } = facts.alert(policy, { name, query });
    if (state === 'Quiet') return [];
    return state === 'Firing'
      ? [{ reason: 'BlockedByAlert', message: `alert ${name} is firing: ${message}`, key: name }]
      : [{ reason: 'AlertUnreadable', message: `alert ${name} could not be read: ${message}`, key: name }];
  });
}

function checkForeign({ ask, machine }: GuardInput, { spec }: PreparedPolicy): readonly DenialCause[] {
  const { foreign } = spec.blockers;
  if (ask.risk === 'None' || foreign.length === 0) return [];
  if (!machine.foreignLeases && foreign.some(({ lease }) => lease !== undefined)) {
    const message = `Leases of other tools for machine ${machine.name} were not observed`;
    return [{ reason: 'FactUnknown', message }];
  }
  const unknown = foreign.find(({ lease }) => isUnobserved(machine, lease));
  if (unknown) {
    const message = `Leases ${unknown.lease ?? ''} of another tool are not observed: ${WHY_UNOBSERVED}`;
    return [{ reason: 'FactUnknown', message }];
  }
  const owner = foreignOwner(machine, foreign);
  if (owner === undefined) return [];
  return [
    { reason: 'ForeignOwner', message: `another tool maintains ${machine.name}: ${owner}`, key: owner },
  ];
}

function checkPods({ ask, machine }: GuardInput, { spec }: PreparedPolicy): readonly DenialCause[] {
  const { podLabels } = spec.blockers;
  if (ask.risk === 'None' || podLabels.length === 0) return [];
  const { blockingPods: pods } = machine;
  if (!pods) return [{ reason: 'FactUnknown', message: `Pods of machine ${machine.name} were not observed` }];
  return podLabels.flatMap((label): readonly DenialCause[] => {
    if (isUnobserved(machine, label)) {
      return [
        { reason: 'FactUnknown', message: `Pods with label ${label} are not observed: ${WHY_UNOBSERVED}` },
      ];
    }
    const pod = pods[label];
    if (pod === undefined) return [];
    return [{ reason: 'BlockedByPod', message: `Pod ${pod} with label ${label} runs on it`, key: label }];
  });
}

/** The log of the process names what cannot be read. */
const WHY_UNOBSERVED = `they were not read yet or cannot be read, or policies name more than ${MAX_SELECTIONS}`;

function isUnobserved({ unobserved = [] }: MachineFacts, sign: string | undefined): boolean {
  return sign !== undefined && unobserved.includes(sign);
}
