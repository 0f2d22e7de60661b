/** Draws what holders ask for in one step: repairs, rollouts, and asks that must be refused. */
import type { GrantAsk } from '../api/grants.ts';
import type { MachineFacts } from '../defender/facts/facts.ts';
import type { SimulatedFleet, SimulatedMachine } from './fleet.ts';
import type { Random } from './random.ts';
import type { Scenario } from './scenario.ts';

/** Draws the asks of one step. `ill` are the machines that are observed as not Ready. */
export function drawAsks(
  fleet: SimulatedFleet,
  ill: Iterable<MachineFacts>,
  random: Random,
): readonly GrantAsk[] {
  const repairs = drawRepairs(fleet, ill, random);
  const rollout = drawRollout(fleet, random);
  const wrong = random.chance(0.02) ? wrongAsks(fleet, random) : [];
  const storm = random.chance(0.0005) ? fleet.machines.map((machine) => diagnosticsOf(fleet, machine)) : [];
  return [...repairs, ...rollout, ...wrong, ...storm];
}

/** Returns only the asks that the scenario names: no ask that must be refused, and no storm of asks. */
export function scenarioAsks(
  fleet: SimulatedFleet,
  ill: Iterable<MachineFacts>,
  random: Random,
  { rollouts = false }: Scenario,
): readonly GrantAsk[] {
  const repairs = drawRepairs(fleet, ill, random);
  return rollouts ? [...repairs, ...drawRollout(fleet, random)] : repairs;
}

function drawRepairs(
  fleet: SimulatedFleet,
  ill: Iterable<MachineFacts>,
  random: Random,
): readonly GrantAsk[] {
  const asking = [...ill].filter(() => random.chance(0.3));
  return asking.map(({ name, nodeUID }) => repairOf(fleet, { name, uid: nodeUID ?? '' }));
}

/** Draws the ask of a rollout, or none. The small pool has as many rollouts as a tenth of the fleet: its limits are the hardest to keep. */
function drawRollout(fleet: SimulatedFleet, random: Random): readonly GrantAsk[] {
  const candidates = random.chance(0.1) ? fleet.machines.slice(-2) : fleet.machines;
  const chosen = random.chance(0.3) ? random.pick(candidates) : undefined;
  return chosen ? [rolloutOf(fleet, chosen, random)] : [];
}

/** Records an act that begins as a repair of the machine. */
export function rememberAsk(
  machine: SimulatedMachine,
  { holder, action, risk }: GrantAsk,
  nowMs: number,
): void {
  if (holder.kind !== 'RemedyOperationJob' || risk === 'None') return;
  machine.repairs = [{ at: new Date(nowMs), rebooted: action === 'Reboot' }, ...machine.repairs].slice(0, 10);
}

function repairOf(
  { nowMs }: SimulatedFleet,
  { name, uid }: { readonly name: string; readonly uid: string },
): GrantAsk {
  return {
    holder: {
      kind: 'RemedyOperationJob',
      name: `${name}-repair`,
      origin: 'NodeRemedier/hang',
      revision: 'r-1',
    },
    machine: name,
    nodeUID: uid,
    action: 'Reboot',
    risk: 'Node',
    factsAt: new Date(nowMs),
    expectedSeconds: 600,
  };
}

function rolloutOf({ nowMs }: SimulatedFleet, { name, uid }: SimulatedMachine, random: Random): GrantAsk {
  return {
    holder: { kind: 'MachineComponentSet', name: 'base', revision: 'r-2' },
    machine: name,
    nodeUID: String(uid),
    action: 'UpdateComponent',
    risk: random.chance(0.7) ? 'Node' : 'Pod',
    factsAt: new Date(nowMs),
    expectedSeconds: 600,
  };
}

function diagnosticsOf({ nowMs }: SimulatedFleet, { name, uid }: SimulatedMachine): GrantAsk {
  const holder = { kind: 'Other', name: `${name}-diagnosis` } as const;
  const common = { machine: name, nodeUID: String(uid), factsAt: new Date(nowMs), expectedSeconds: 60 };
  return { holder, action: 'CollectDiagnostics', risk: 'None', ...common };
}

/**
 * Returns one ask that must be refused: a message that was delayed, one about another Node, one below its risk, one without revision, one
 * without approval.
 */
function wrongAsks(fleet: SimulatedFleet, random: Random): readonly GrantAsk[] {
  const machine = random.pick(fleet.machines);
  if (!machine) return [];
  const repair = repairOf(fleet, { name: machine.name, uid: String(machine.uid) });
  const kinds: readonly GrantAsk[] = [
    { ...repair, factsAt: new Date(fleet.nowMs - 600_000) },
    { ...repair, nodeUID: String(machine.uid + 1) },
    { ...repair, action: 'Reboot', risk: 'None' },
    { ...repair, holder: { kind: 'RemedyOperationJob', name: `${machine.name}-unknown` } },
    { ...repair, action: 'ReplaceMachine', risk: 'Machine' },
  ];
  const chosen = random.pick(kinds);
  return chosen ? [chosen] : [];
}
