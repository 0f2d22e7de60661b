/** The cluster of a test as the Defender would observe it. Pure. */
import type {
  PolicyTestFacts,
  PolicyTestMachines,
  PolicyTestMember,
} from '../../api/validation/policy-tests.ts';
import type { ControlPlaneMember, FleetFacts, MachineFacts } from '../facts/facts.ts';
import { createFleetIndex } from '../facts/fleet-index.ts';
import { foreignOwner } from '../facts/foreign.ts';
import { after } from '../guards/guard.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';
import { namesOfEntry, testCapacity } from './capacity.ts';

const A_MONTH_SECONDS = 30 * 86_400;
const UNKNOWN_SECONDS = 600;

export function testFleet(facts: PolicyTestFacts, policies: PreparedPolicies, now: Date): FleetFacts {
  const index = createFleetIndex();
  const signs = policies.valid.flatMap(({ spec }) => spec.blockers.foreign);
  index.setGroupings(policies.groupings, (machine) => foreignOwner(machine, signs) !== undefined);
  for (const machine of facts.machines.flatMap((each) => machinesOf(each, now))) index.put(machine);
  const { viewAgeSeconds = 0, apiErrorPercent = 0, clockSkewSeconds = 0, controlPlane, alerts = {} } = facts;
  return {
    ...index,
    view: { ageSeconds: viewAgeSeconds, apiErrorPercent, clockSkewSeconds },
    controlPlane: controlPlane?.map(memberOf),
    missingIn: () => undefined,
    desiredIn: () => undefined,
    zonalShifts: new Set(),
    capacity: testCapacity(facts),
    alert: (_policy, { name }) => ({ state: alerts[name] ?? 'Unknown', message: 'of the test' }),
  };
}

function machinesOf(entry: PolicyTestMachines, now: Date): readonly MachineFacts[] {
  return namesOfEntry(entry).map((name) => machineOf(name, entry, now));
}

const USUAL = {
  labels: {},
  readiness: 'Ready',
  cordoned: false,
  taints: [],
  blockingPods: {},
  foreignLeases: [],
  excluded: false,
  isControlPlane: false,
} as const;

function machineOf(name: string, entry: PolicyTestMachines, now: Date): MachineFacts {
  const {
    count: _,
    allocatable: __,
    ageSeconds = A_MONTH_SECONDS,
    unknownForSeconds = UNKNOWN_SECONDS,
    ...more
  } = entry;
  const { hold, repairs = [], unknownFactsForSeconds, ...own } = more;
  return {
    ...USUAL,
    ...own,
    name,
    nodeUID: `uid-${name}`,
    nodeCreatedAt: after(now, -ageSeconds),
    ...(own.readiness === 'Unknown' ? { unknownSince: after(now, -unknownForSeconds) } : {}),
    ...(unknownFactsForSeconds === undefined ? {} : unknownFacts(after(now, -unknownFactsForSeconds))),
    established: true,
    holds: hold === undefined ? [] : [{ reason: hold, scope: 'All' }],
    paused: false,
    repairs: repairs
      .map(({ secondsAgo, rebooted = false }) => ({ at: after(now, -secondsAgo), rebooted }))
      .toSorted((a, b) => +b.at - +a.at),
  };
}

function unknownFacts(since: Date): Pick<MachineFacts, 'unknownFacts'> {
  return { unknownFacts: [{ rule: 'test', since, message: 'facts are unknown' }] };
}

function memberOf(member: PolicyTestMember): ControlPlaneMember {
  return { etcd: 'Healthy', apiServer: 'Ready', isLeader: false, needsWork: false, ...member };
}
