/**
 * Simulates the repair jobs that replace machines of a set: each has a grant, marks a machine that is not Ready, and asks for its instance to be
 * kept. It ends when the machine does not exist any more, or is Ready again for long.
 */
import { DEFENDER_LEDGERS, MACHINES } from '../../api/generated/resources.ts';
import type { LedgerGrant, Machine } from '../../api/generated/types.ts';
import { isKept } from '../../api/machine/kept.ts';
import { LEDGER } from '../../api/names.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { SetPeople } from './set-people.ts';

/** A job keeps the instances of at most `max` machines, for at most `holdSeconds`. */
export const KEEP = { holdSeconds: 600, max: 1 } as const;
const CHANCE = 0.05;
/** A job ends some minutes after its machine came back: until then the mark is there. */
const LATE_MS = 600_000;
const GRANT_MS = 3_600_000;
const HOLDER = 'RemedyOperationJob';

type Repaired = Pick<SetPeople, 'api' | 'random' | 'nowMs'>;

/** Called in each step. Once everything is calm, no job begins. */
export function stepRepairs(cluster: Repaired, isCalm: boolean): void {
  endJobs(cluster);
  if (!isCalm && cluster.random.chance(CHANCE)) beginJob(cluster);
}

function beginJob({ api, random, nowMs }: Repaired): void {
  const grants = grantsIn(api);
  const machine = random.pick(api.list(MACHINES).filter((each) => isIll(each) && !isInUse(each, grants)));
  const ledger = api.get(DEFENDER_LEDGERS, LEDGER);
  if (!machine || !ledger) return;
  const { name } = machine.metadata;
  const fence = ledger.spec.seq + 1;
  const job = `${name}-${fence}`;
  const grant: LedgerGrant = {
    id: `g-${fence}-job`,
    fence,
    state: 'Started',
    holder: { kind: HOLDER, name: job },
    action: 'ReplaceMachine',
    risk: 'Machine',
    ...optional('nodeUID', api.get(NODES, name)?.metadata.uid),
    keys: {},
    issuedAt: timeAt(nowMs()),
    notAfter: timeAt(nowMs() + GRANT_MS),
  };
  putGrants(api, { ...grants, [name]: grant }, fence);
  const replacement = {
    job,
    grant: grant.id,
    fence,
    replacementFirst: true,
    wasReady: false,
    since: timeAt(nowMs()),
    keepFailed: KEEP,
  };
  api.put({ ...machine, status: { ...machine.status, replacement } });
}

function isInUse({ metadata }: Machine, grants: Readonly<Record<string, LedgerGrant>>): boolean {
  const found = grants[metadata.name];
  return found !== undefined && found.state !== 'Settled';
}

/** Tells whether a rule would find the machine ill: it was Ready before, and is not now. */
function isIll({ metadata, status }: Machine): boolean {
  const ready = conditionOf(status?.conditions, 'Ready');
  const isNew = status?.infra?.state !== 'Running';
  return metadata.deletionTimestamp === undefined && !isNew && ready !== undefined && ready.status !== 'True';
}

function endJobs(cluster: Repaired): void {
  const own = Object.entries(grantsIn(cluster.api)).filter(
    ([, { holder, state }]) => holder.kind === HOLDER && state !== 'Settled',
  );
  for (const [name, grant] of own) endJob(name, grant, cluster);
}

function endJob(name: string, grant: LedgerGrant, { api, nowMs }: Repaired): void {
  const left = api
    .list(MACHINES)
    .find((machine) => isToReplace(machine, grant) && machine.metadata.name === name);
  if (left && !isBackForLong(left, nowMs())) return;
  const outcome = left ? 'Failed' : 'Succeeded';
  const settled = { ...grant, state: 'Settled', outcome, settledAt: timeAt(nowMs()) } as const;
  putGrants(api, { ...grantsIn(api), [name]: settled });
  if (left) api.put(unmarked(left));
}

/** Tells whether the job of the grant still replaces the machine. */
function isToReplace(machine: Machine, { id }: LedgerGrant): boolean {
  return machine.status?.replacement?.grant === id && !isKept(machine);
}

function isBackForLong({ metadata, status }: Machine, nowMs: number): boolean {
  const ready = conditionOf(status?.conditions, 'Ready');
  if (metadata.deletionTimestamp !== undefined || ready?.status !== 'True') return false;
  return nowMs - Date.parse(ready.lastTransitionTime) > LATE_MS;
}

function unmarked({ status, ...machine }: Machine): Machine {
  if (!status) return machine;
  const { replacement: _, ...rest } = status;
  return { ...machine, status: rest };
}

function grantsIn(api: Repaired['api']): Readonly<Record<string, LedgerGrant>> {
  return api.get(DEFENDER_LEDGERS, LEDGER)?.spec.grants ?? {};
}

function putGrants(api: Repaired['api'], grants: Readonly<Record<string, LedgerGrant>>, seq?: number): void {
  const ledger = api.get(DEFENDER_LEDGERS, LEDGER);
  if (!ledger) return;
  api.put({ ...ledger, spec: { ...ledger.spec, grants, seq: seq ?? ledger.spec.seq + 1 } });
}

function timeAt(ms: number): string {
  return new Date(ms).toISOString();
}
