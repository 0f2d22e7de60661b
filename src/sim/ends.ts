/** Acts end and are settled; what is not settled expires. */
import type { DefenderLedgerSpec } from '../api/generated/types.ts';
import type { GrantSettlement } from '../api/grants.ts';
import { planExpiry } from '../defender/controller/plan.ts';
import type { LedgerRequest } from '../defender/ledger/requests.ts';
import { suspectCause, watchCause } from './causes.ts';
import { endAct, isOn, type SimulatedAct, type SimulatedFleet, type SimulatedMachine } from './fleet.ts';
import { endRuleAct } from './machines/judge/rule-versions.ts';
import { LIMITS } from './policies.ts';
import { anyReplica, type SimulationRun } from './run.ts';
import { countVerified } from './storms.ts';

/** Twice the cooldown, and the time of some probes. */
const BREAKER_MS = 4 * 3_600_000;
/** A grant of this age without an act is a leak. */
const LEAK_MS = 3 * 3_600_000;

/** A settlement that fails is sent again in the next step; some arrive twice. */
export async function endActs(run: SimulationRun): Promise<void> {
  const { fleet, random } = run;
  const over = [...fleet.acting].filter(({ act }) => act && act.endsMs <= fleet.nowMs && !random.chance(0.1));
  for (const machine of over) {
    const { act } = machine;
    if (!act) continue;
    const { id, fence } = act.grant;
    const settlement: GrantSettlement = { id, fence, outcome: act.willFail ? 'Failed' : 'Succeeded' };
    const requests = Array.from(
      { length: random.chance(0.1) ? 2 : 1 },
      () => ({ kind: 'settle', settlement }) as const,
    );
    suspectCause(run);
    // oxlint-disable-next-line no-await-in-loop -- settlements have an order
    const answers = await anyReplica(run).run(requests);
    if ('granted' in answers) continue;
    endOne(run, machine, act);
  }
}

function endOne(run: SimulationRun, machine: SimulatedMachine, { ask, willFail }: SimulatedAct): void {
  const { fleet, dirty, ruleVersions } = run;
  endAct(fleet, machine);
  if (ruleVersions && !willFail) endRuleAct(ruleVersions, machine.name, fleet.nowMs);
  machine.isDark = isOn(fleet, 'zoneDark') && machine.zone === 'a' && !machine.isControlPlane;
  machine.isReady = !willFail && !machine.isDark;
  machine.changedMs = fleet.nowMs;
  dirty.add(machine);
  if (ask.risk === 'None') return;
  countFailure(run, willFail);
  countVerified(run, machine, willFail);
}

/** Until the breaker may have closed again, more failures change nothing. A ledger that was lost meanwhile counted some of them. */
function countFailure({ fleet, failures, lostMs }: SimulationRun, hasFailed: boolean): void {
  if (fleet.nowMs - failures.openMs < BREAKER_MS) return;
  failures.count = hasFailed ? failures.count + 1 : 0;
  if (failures.count === 1) failures.firstMs = fleet.nowMs;
  if (failures.count < LIMITS.failuresInARow || lostMs >= failures.firstMs) return;
  Object.assign(failures, { count: 0, openMs: fleet.nowMs });
}

export async function expireGrants(run: SimulationRun): Promise<void> {
  const { fleet, ledger, violations } = run;
  checkRecovery(run);
  await sweep(run);
  for (const [machine, { id, state, issuedAt }] of Object.entries(ledger.spec()?.grants ?? {})) {
    const isLeaked =
      state !== 'Settled' && fleet.nowMs - Date.parse(issuedAt) > LEAK_MS && !holds(fleet, machine, id);
    if (!isLeaked) continue;
    violations.push({ at: new Date(fleet.nowMs).toISOString(), machine, what: `grant ${id} is leaked` });
  }
}

async function sweep(run: SimulationRun): Promise<void> {
  const spec = run.ledger.spec();
  if (!spec) return;
  const requests = [...settlementsOf(run, spec), { kind: 'sweep' }, { kind: 'reviewBreakers' }] as const;
  suspectCause(run);
  const answers = await anyReplica(run).run(requests);
  if (!('granted' in answers)) watchCause(run);
}

function settlementsOf({ fleet, index }: SimulationRun, spec: DefenderLedgerSpec): LedgerRequest[] {
  const plans = planExpiry({
    ledger: spec,
    holder: (machine) => (fleet.byName.get(machine)?.act ? 'Active' : 'NotFound'),
    machine: (name) => index.machine(name),
    now: new Date(fleet.nowMs),
  });
  return plans.flatMap(({ settlement }) => (settlement ? [{ kind: 'settle', settlement }] : []));
}

function holds(fleet: SimulatedFleet, machine: string, id: string): boolean {
  const found = fleet.byName.get(machine);
  return found !== undefined && (found.isSilent || found.act?.grant.id === id);
}

/** A ledger that was not damaged has every grant whose act is in work. */
function checkRecovery({ fleet, ledger, lostMs, violations }: SimulationRun): void {
  const { recovering, recoveringSince = '' } = ledger.spec() ?? {};
  if (recovering !== true || Date.parse(recoveringSince) - lostMs < 3_600_000) return;
  const at = new Date(fleet.nowMs).toISOString();
  violations.push({ at, machine: '', what: 'the ledger recovers although it was not damaged' });
}
